package hostile

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// failing is a test that notes its failure instead of failing.
type failing struct {
	testing.TB
	text string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.text = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure runs f with a test and returns what it failed with, or a panic's text.
func failure(t *testing.T, f func(tb testing.TB)) string {
	fake := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				fake.text = fmt.Sprint(r)
			}
		}()
		f(fake)
	}()
	<-done
	return fake.text
}

// sums is a subject: it takes datagrams whose first byte is below 128, and adds up the others.
type sums struct {
	sum, count int
	played     []string // since Start
	finished   map[string]bool
	subjects   int
	receive    func(s *sums, d []byte) (took bool)
}

func (s *sums) Start(*Vector) { s.sum, s.count, s.played = 0, 0, nil; s.subjects++ }
func (s *sums) State() uint64 { return uint64(s.sum) }
func (s *sums) Discard()      {}
func (s *sums) Finish()       { s.finished[fmt.Sprint(s.sum)] = true }

func (s *sums) Receive(d []byte) bool {
	s.played = append(s.played, string(d))
	if s.receive != nil {
		return s.receive(s, d)
	}
	return s.add(d)
}

func (s *sums) add(d []byte) bool {
	if len(d) == 0 || d[0] >= 128 {
		s.count++
		return false
	}
	for _, b := range d[1:] {
		s.sum += int(b)
	}
	return true
}

var sumVector = Vector{ID: "sums", Datagrams: [][]byte{{0, 1, 2}, {0, 1, 2}, {0, 200}, {255, 9, 9}, {0, 0, 0, 7}}}

func TestWhatIsPlayedOnceForManyIsAllThereIs(t *testing.T) {
	t.Logf("# each change by itself, the whole vector every time")
	want := map[string]bool{}
	runs := 0
	for k, d := range sumVector.Datagrams {
		everything().Damage(d, k, func(b []byte) {
			runs++
			s := sums{}
			for i, d := range sumVector.Datagrams {
				if i == k {
					d = b
				}
				s.Receive(d)
			}
			want[fmt.Sprint(s.sum)] = true
		})
	}
	for _, drops := range []int{1, 3, 1000} {
		s := &sums{finished: map[string]bool{}}
		p := Player{T: t, Subject: s, Scope: everything(), Drops: drops}
		p.Play(&sumVector)
		require.Equal(t, runs, p.Runs)
		require.Equal(t, want, s.finished, "%d drops", drops)
	}
}

func TestAFloodOfWhatIsDroppedCostsFewSubjects(t *testing.T) {
	flood := Vector{ID: "flood"}
	for range 100 {
		flood.Datagrams = append(flood.Datagrams, []byte{0xff, 1, 2, 3})
	}
	s := &sums{finished: map[string]bool{}}
	p := Player{T: t, Subject: s, Scope: everything(), Drops: 1 << 20}
	p.Play(&flood)
	require.Equal(t, 100*4*256, p.Runs)
	require.Equal(t, 100*128, p.Apart, "those whose first byte is below 128")
	require.Less(t, s.subjects, p.Apart+300)
}

func TestPartsOfAPlayTogetherAreTheWhole(t *testing.T) {
	runs := 0
	for i := range 3 {
		p := Player{T: t, Subject: &sums{finished: map[string]bool{}}, Scope: &Scope{Exhaustive: true, part: uint32(i), of: 3}, Drops: 10}
		p.Play(&sumVector)
		runs += p.Runs
	}
	require.Equal(t, 256*(3+3+2+3+4), runs)
}

func TestFloodsCanBeThinnedOut(t *testing.T) {
	flood := Vector{ID: "flood", Datagrams: [][]byte{make([]byte, floodBytes/2+1), make([]byte, floodBytes/2+1)}}
	count := func(v *Vector) int {
		s := &sums{finished: map[string]bool{}, receive: func(*sums, []byte) bool { return false }}
		p := Player{T: t, Subject: s, Scope: &Scope{Exhaustive: true, of: 1, floods: 50}, Drops: 1000}
		p.Play(v)
		return p.Runs
	}
	require.InDelta(t, 2*(floodBytes/2+1)*256/50, count(&flood), floodBytes*256/500)
	require.Equal(t, 15*256, count(&sumVector), "others are played whole")
}

func TestADropThatLeavesATraceIsFound(t *testing.T) {
	for name, leak := range map[string]func(s *sums, d []byte) bool{
		"at once": func(s *sums, d []byte) bool {
			if slices.Equal(d, []byte{0x99, 200}) {
				s.sum += 1_000_000
			}
			return s.add(d)
		},
		"of one among many that are taken": func(s *sums, d []byte) bool {
			if len(d) == 2 && d[1] == 0x99 {
				s.sum += 1_000_000
				return false
			}
			return s.add(d)
		},
	} {
		for _, drops := range []int{1, 7, 1000} {
			text := failure(t, func(tb testing.TB) {
				p := Player{T: tb, Subject: &sums{finished: map[string]bool{}, receive: leak}, Scope: everything(), Drops: drops}
				p.Play(&sumVector)
			})
			require.Contains(t, text, "left something behind", "%s, %d drops", name, drops)
			require.Contains(t, text, "datagram 2 damaged")
			require.Regexp(t, "now (99c8|0099)", text)
		}
	}
}

func TestAPanicSaysWhatWasPlayed(t *testing.T) {
	text := failure(t, func(tb testing.TB) {
		p := Player{T: tb, Scope: everything(), Drops: 10, Subject: &sums{finished: map[string]bool{}, receive: func(s *sums, d []byte) bool {
			if len(d) == 4 && d[3] == 77 {
				panic("oh")
			}
			return s.add(d)
		}}}
		p.Play(&sumVector)
	})
	require.Equal(t, "sums, datagram 4 damaged, now 0000004d: oh", text)
}

func TestMemoryThatADatagramCostsIsFound(t *testing.T) {
	var kept []byte
	text := failure(t, func(tb testing.TB) {
		p := Player{T: tb, Scope: everything(), Drops: 10, Subject: &sums{finished: map[string]bool{}, receive: func(s *sums, d []byte) bool {
			if len(d) == 2 && d[1] == 77 {
				kept = make([]byte, 8<<20)
			}
			return s.add(d)
		}}}
		p.Play(&sumVector)
	})
	require.NotEmpty(t, kept)
	require.Contains(t, text, "made it allocate")
	require.True(t, strings.HasPrefix(text, "sums, datagram 2 damaged"), text)
}
