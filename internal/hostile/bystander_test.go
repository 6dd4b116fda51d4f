package hostile

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// counting is a story about a number.
type counting struct {
	n      int
	begun  int
	luck   int // what makes the steps of one telling differ from another's
	ending int
}

func (c *counting) Begin()        { c.n = 0; c.begun++ }
func (c *counting) Step(i int)    { c.n += i + 1 + c.luck }
func (c *counting) State() uint64 { return uint64(c.n) }
func (c *counting) End()          { c.ending++ }

func TestABystandersStoryGoesTheSameWayAgainAndAgain(t *testing.T) {
	c := &counting{}
	b := NewBystander(t, c, 5)
	for range 12 {
		b.Look()
	}
	require.Equal(t, 13, b.End())
	require.Equal(t, c.begun, c.ending)
	require.Equal(t, 4, c.begun, "the first to learn it, and three more")
}

func TestABystanderThatNoticesIsFound(t *testing.T) {
	for name, harm := range map[string]func(c *counting){
		"changed between steps": func(c *counting) { c.n++ },
		"changed in a step":     func(c *counting) { c.luck = 1 },
	} {
		text := failure(t, func(tb testing.TB) {
			c := &counting{}
			b := NewBystander(tb, c, 5)
			b.Look()
			b.Look()
			harm(c)
			b.Look()
		})
		require.Contains(t, text, "bystander", name)
		require.Contains(t, text, "step 2", name)
	}
}
