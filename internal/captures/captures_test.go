package captures

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryRecordingIsReadable(t *testing.T) {
	all, err := All()
	require.NoError(t, err)
	for _, c := range all {
		require.NotEmpty(t, c.Name)
		require.NotEmpty(t, c.Title, c.Name)
		require.NotEmpty(t, c.Datagrams, c.Name)
		require.Zero(t, c.Datagrams[0].At, c.Name)
		var client, server int
		for i, d := range c.Datagrams {
			require.NotEmpty(t, d.Data, "%s, datagram %d", c.Name, i)
			if i > 0 {
				require.GreaterOrEqual(t, d.At, c.Datagrams[i-1].At, "%s, datagram %d", c.Name, i)
			}
			if d.FromClient {
				client++
			} else {
				server++
			}
		}
		require.Positive(t, client, c.Name)
		require.Positive(t, server, c.Name)
	}
}

func TestLoadGivesOneRecording(t *testing.T) {
	c, err := Load("original-ping")
	require.NoError(t, err)
	require.Equal(t, "original-ping", c.Name)
	require.Len(t, c.Datagrams, 4)
	require.True(t, c.Datagrams[0].FromClient)
	require.Equal(t, byte(0x01), c.Datagrams[0].Data[0])

	_, err = Load("no such recording")
	require.Error(t, err)
}

func TestParseNamesTheBadLine(t *testing.T) {
	c, err := parse([]byte("# A title\n# more\n\n0.00 C>S 01ff\n1.50 S>C 1c\n"))
	require.NoError(t, err)
	require.Equal(t, Capture{Title: "A title", Datagrams: []Datagram{
		{At: 0, FromClient: true, Data: []byte{0x01, 0xff}},
		{At: 1500 * time.Microsecond, Data: []byte{0x1c}},
	}}, c)

	for name, text := range map[string]string{
		"two fields":  "0.00 C>S",
		"a bad time":  "soon C>S 01",
		"a direction": "0.00 C>C 01",
		"half a byte": "0.00 C>S 012",
	} {
		_, err := parse([]byte("# title\n" + text + "\n"))
		require.ErrorContains(t, err, "line 2", name)
	}
}
