package protocol

import "testing"

func TestInternalAddressesByVersion(t *testing.T) {
	for version, want := range map[byte]int{
		0: 10, VersionOriginal: 10, 7: 10, VersionLegacy: 10,
		9: 20, VersionPre1_19: 20, VersionCurrent: 20, 255: 20,
	} {
		if got := InternalAddresses(version); got != want {
			t.Errorf("version %d: %d addresses, want %d", version, got, want)
		}
	}
}

func TestProbesShrinkAndLeaveRoomForFragments(t *testing.T) {
	if ProbeMTUs[0] != MaxMTU {
		t.Errorf("the first probe is %d, not the largest", ProbeMTUs[0])
	}
	for i, mtu := range ProbeMTUs {
		if mtu < MinMTU || i > 0 && mtu >= ProbeMTUs[i-1] {
			t.Errorf("probe %d is %d", i, mtu)
		}
	}
	if MinMTU <= FragmentOverhead+UDPOverhead {
		t.Error("the smallest MTU leaves no room for a fragment")
	}
}
