package hostile

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/pool"
)

// machine has everything in it that the machines of this module are made of.
type machine struct {
	number  int64
	small   [3]uint16
	text    string
	share   float64
	on      bool
	list    []part
	byID    map[uint16]*part
	first   *part
	current *part
	rule    interface{ size() int }
	change  func()
	bytes   []byte
	ref     pool.Ref
}

type part struct {
	id         int
	prev, next *part
}

func (p *part) size() int { return p.id }

// newMachine returns one of many that are alike.
func newMachine(buf *pool.Buffer) *machine {
	a, b, c := &part{id: 1}, &part{id: 2}, &part{id: 3}
	a.next, b.prev, b.next, c.prev = b, a, c, b
	m := &machine{number: -5, small: [3]uint16{1, 2, 3}, text: "x", share: 0.5, list: []part{{id: 7}}, first: a, current: b, rule: c, bytes: []byte{1, 2}}
	m.byID = map[uint16]*part{3: c, 1: a, 2: b}
	m.ref = pool.Share(buf, buf.B[10:20])
	return m
}

func TestEveryDifferenceShowsInTheFingerprint(t *testing.T) {
	buf := pool.Get(pool.ClassSmall)
	defer buf.Release()
	buf.N = 30
	prints := NewFingerprints()
	m := newMachine(buf)
	defer m.ref.Release()
	before := prints.Of(m)
	require.Equal(t, before, prints.Of(m))
	seen := map[uint64]string{before: "as it was"}
	for name, f := range map[string]func(m *machine){
		"number":                 func(m *machine) { m.number++ },
		"element of an array":    func(m *machine) { m.small[2] = 9 },
		"text":                   func(m *machine) { m.text = "y" },
		"share":                  func(m *machine) { m.share = 0.25 },
		"switch":                 func(m *machine) { m.on = true },
		"length":                 func(m *machine) { m.list = append(m.list, part{}) },
		"element":                func(m *machine) { m.list[0].id = 8 },
		"no list":                func(m *machine) { m.list = nil },
		"key":                    func(m *machine) { m.byID[4] = m.byID[3]; delete(m.byID, 3) },
		"behind a pointer":       func(m *machine) { m.first.next.next.id = 4 },
		"another pointer":        func(m *machine) { m.current = m.first },
		"pointer to a twin":      func(m *machine) { twin := *m.byID[2]; m.current = &twin },
		"no pointer":             func(m *machine) { m.current = nil },
		"behind an interface":    func(m *machine) { m.rule = &part{id: 5} },
		"no interface":           func(m *machine) { m.rule = nil },
		"function":               func(m *machine) { m.change = func() {} },
		"byte":                   func(m *machine) { m.bytes[1] = 3 },
		"byte of a buffer":       func(m *machine) { buf.B[15]++ },
		"other byte of the same": func(m *machine) { buf.B[15]--; buf.B[29]++ },
		"which bytes":            func(m *machine) { m.ref.Data = m.ref.Data[1:] },
	} {
		other := newMachine(buf)
		f(other)
		sum := prints.Of(other)
		require.Empty(t, seen[sum], "%s: no difference from %s", name, seen[sum])
		if name != "other byte of the same" && name != "byte of a buffer" {
			seen[sum] = name
		}
		other.ref.Release()
	}
}

func TestWhatIsLeftOutOrOutOfUseMakesNoDifference(t *testing.T) {
	buf := pool.Get(pool.ClassSmall)
	defer buf.Release()
	buf.N = 30
	a, b := newMachine(buf), newMachine(buf)
	defer a.ref.Release()
	defer b.ref.Release()
	require.Equal(t, NewFingerprints().Of(a), NewFingerprints().Of(b), "two that are alike, in other places")
	before := NewFingerprints().Of(a)
	buf.B[100]++
	require.Equal(t, before, NewFingerprints().Of(a), "bytes beyond those in use")
	a.bytes = append(make([]byte, 0, 100), a.bytes...)
	require.Equal(t, before, NewFingerprints().Of(a), "a capacity")
	a.number, a.first.id = 99, 98
	require.Equal(t, NewFingerprints("machine.number", "part.id").Of(b), NewFingerprints("machine.number", "part.id").Of(a))
	require.NotEqual(t, before, NewFingerprints("machine.number").Of(a))
}
