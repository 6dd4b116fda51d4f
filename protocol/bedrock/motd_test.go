package bedrock

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/captures"
)

func TestAWholeAnswerReadsAndWritesBack(t *testing.T) {
	const text = `MCPE;A §lserver\; mine;766;1.21.50;3;20;13253860892328930865;world;Survival;1;19132;19133;0;`
	m, ok := Parse([]byte(text))
	require.True(t, ok)
	require.Equal(t, MOTD{
		Edition: "MCPE", Name: "A §lserver; mine", Protocol: 766, Version: "1.21.50", Players: 3, MaxPlayers: 20,
		GUID: -5192883181380620751, World: "world", GameMode: "Survival", GameModeID: 1, PortV4: 19132, PortV6: 19133,
		Extra: []string{"0"}, Count: 13,
	}, m)
	require.Equal(t, text, m.String())
}

func TestTheLeastThatClientsShow(t *testing.T) {
	require.Equal(t, "MCPE;;0;;0;0;0;;;0;", MOTD{}.String())
	require.Equal(t, "x MCEE;class;1;;0;5;7;;;0;0;19133;",
		string(MOTD{Edition: EditionEducation, Name: "class", Protocol: 1, MaxPlayers: 5, GUID: 7, PortV6: 19133}.Append([]byte("x "))))
}

// What servers answer that have their own idea of it. Nothing is refused, and what cannot be
// read is zero.
func TestOddAnswers(t *testing.T) {
	for text, want := range map[string]struct {
		ok bool
		m  MOTD
	}{
		"":                               {false, MOTD{}},
		";":                              {false, MOTD{Count: 1}},
		"MCPE":                           {true, MOTD{Edition: "MCPE", Count: 1}},
		"MCPE;":                          {true, MOTD{Edition: "MCPE", Count: 1}},
		"mcpe;x;":                        {false, MOTD{Edition: "mcpe", Name: "x", Count: 2}},
		"any game's own; words":          {false, MOTD{Edition: "any game's own", Name: " words", Count: 2}},
		"MCEE;x;1":                       {true, MOTD{Edition: "MCEE", Name: "x", Protocol: 1, Count: 3}},
		"MCPE;raknet;2 7;0.11.0;0;20":    {true, MOTD{Edition: "MCPE", Name: "raknet", Version: "0.11.0", MaxPlayers: 20, Count: 6}},
		"MCPE;a;b;c;d;e;f;g;h;i;j;k;":    {true, MOTD{Edition: "MCPE", Name: "a", Version: "c", World: "g", GameMode: "h", Count: 12}},
		"MCPE;;99999999999;;-3; 7 ;-1":   {true, MOTD{Edition: "MCPE", Players: -3, MaxPlayers: 7, GUID: -1, Count: 7}},
		"MCPE;;;;;;99999999999999999999": {true, MOTD{Edition: "MCPE", Count: 7}},
		"MCPE;;;;;;;;;;70000;-1;":        {true, MOTD{Edition: "MCPE", Count: 12}},
		`MCPE;a\\;b\c\;d\`:               {true, MOTD{Edition: "MCPE", Name: `a\;b\c;d\`, Count: 2}},
		"MCPE;\xff\x00\n;":               {true, MOTD{Edition: "MCPE", Name: "\xff\x00\n", Count: 2}},
	} {
		m, ok := Parse([]byte(text))
		require.Equal(t, want.ok, ok, "%q", text)
		require.Equal(t, want.m, m, "%q", text)
	}
	m, _ := Parse([]byte(strings.Repeat("x;", 1000)))
	require.Len(t, m.Extra, maxExtra)
	require.Equal(t, known+maxExtra, m.Count)
}

func TestABackslashAtTheEndOfAFieldIsLeftOut(t *testing.T) {
	m, ok := Parse(MOTD{Name: `back\slash\\`, World: `\`, Players: 4}.Append(nil))
	require.True(t, ok)
	require.Equal(t, `back\slash`, m.Name)
	require.Empty(t, m.World)
	require.Equal(t, 4, m.Players)
}

// recordedPongs are the data of the pongs of other implementations, without their length.
func recordedPongs(t testing.TB) map[string][]byte {
	all, err := captures.All()
	if err != nil {
		t.Fatal(err)
	}
	pongs := map[string][]byte{}
	for _, c := range all {
		for _, d := range c.Datagrams {
			if d.Data[0] == 0x1c && len(d.Data) > 35 {
				pongs[c.Name] = d.Data[35:]
			}
		}
	}
	return pongs
}

func TestRecordedAnswers(t *testing.T) {
	pongs := recordedPongs(t)
	for name, want := range map[string]MOTD{
		"raklib-server": {Name: "RakLib echo", Protocol: 748, Version: "1.21.40", MaxPlayers: 20, GUID: 123, World: "echo",
			GameMode: "Survival", GameModeID: 1, PortV4: 19132, PortV6: 19133, Count: 12},
		"rust-raknet-server": {Name: "Rust Raknet Server", Protocol: 486, Version: "1.18.11", MaxPlayers: 99999, GUID: -8646367537516533351,
			World: "Bedrock level", GameMode: "Survival", GameModeID: 1, PortV4: 41000, Count: 11},
		"jsp-raknet-server": {Name: "JSRakNet - JS powered RakNet", Protocol: 408, Version: "1.16.20", MaxPlayers: 5, GUID: -2663254297952874424,
			World: "JSRakNet", GameMode: "Creative", Count: 9},
		"serenity-server": {Name: "Serenity echo", Protocol: 11, Version: "1.26.45", MaxPlayers: 40, GUID: 1390577863815378944,
			World: "SerenityJS", GameMode: "Survival", GameModeID: 1, PortV4: 20020, PortV6: 20021, Count: 12},
		"cloudburst-server": {Name: "cloudburst", Protocol: 1, Version: "1", MaxPlayers: 10, GUID: 1, World: "x",
			GameMode: "Survival", GameModeID: 1, PortV4: 19132, PortV6: 19133, Count: 12},
	} {
		want.Edition = EditionBedrock
		m, ok := Parse(pongs[name])
		require.True(t, ok, name)
		require.Equal(t, want, m, name)
	}
}

func FuzzParse(f *testing.F) {
	for _, data := range recordedPongs(f) {
		f.Add(data)
	}
	f.Add([]byte(`MCPE;A\;b\\;766;1.21.50;3;20;13253860892328930865;world;Survival;1;19132;19133;0;x`))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		m, ok := Parse(data)
		if !bytes.Equal(before, data) {
			t.Fatal("the input changed")
		}
		if m.Count > known+maxExtra || len(m.Extra) > maxExtra || ok != (m.Edition == EditionBedrock || m.Edition == EditionEducation) {
			t.Fatalf("%+v, %v", m, ok)
		}
		// What is written is read as it is, and written again alike.
		text := m.Append(nil)
		again, _ := Parse(text)
		if got := again.Append(nil); !bytes.Equal(got, text) {
			t.Fatalf("%q was written again as %q", text, got)
		}
		if again.Protocol != m.Protocol || again.Players != m.Players || again.MaxPlayers != m.MaxPlayers || again.GUID != m.GUID ||
			again.GameModeID != m.GameModeID || again.PortV4 != m.PortV4 || again.PortV6 != m.PortV6 || len(again.Extra) != len(m.Extra) ||
			again.Name != strings.TrimRight(m.Name, `\`) || again.World != strings.TrimRight(m.World, `\`) {
			t.Fatalf("%q: %+v, was %+v", text, again, m)
		}
	})
}
