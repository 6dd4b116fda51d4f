package bedrock

import (
	"slices"
	"strconv"
	"strings"
)

// Editions that a game client looks for.
const (
	EditionBedrock   = "MCPE" // from Pocket Edition, whose name it keeps
	EditionEducation = "MCEE"
)

// MOTD is the answer of a Bedrock server to a server list ping, "message of the day". Fields that an answer
// does not have, or whose numbers are none, are zero. Fields stand in the order of the text.
type MOTD struct {
	// Edition is EditionBedrock or EditionEducation; Append writes EditionBedrock for "".
	// Vanilla. Clients ignore answers that begin otherwise.
	Edition string
	// Name is the first line in the server list. Vanilla. It may have colours (§) and, written
	// with a backslash before each, semicolons, as PocketMine does.
	Name string
	// Protocol is the version of the game's own protocol, which tells clients whether they are
	// too old; it has nothing to do with RakNet's. Vanilla. Proxies write what they like.
	Protocol int
	// Version is that of the game, such as "1.21.50". Vanilla; some servers write "*" or nothing.
	Version string
	// Players are on the server, MaxPlayers is how many may be. Vanilla. Clients show
	// any number, also negative ones.
	Players, MaxPlayers int
	// GUID is the server's RakNet GUID in decimal. Vanilla, unsigned; some servers write it
	// signed, and some a number of another kind or a word, which is 0 here.
	GUID int64
	// World is the second line, shown for games in the local network. Vanilla: the
	// name of the level. Servers often put the name of their software here.
	World string
	// GameMode is "Survival", "Creative" or "Adventure". Vanilla. Answers of older versions, and of several
	// servers, end with it or before.
	GameMode string
	// GameModeID is a number that follows it. Vanilla writes 0 or 1; descriptions differ about whether it is the
	// game mode's or says that Nintendo's consoles may join. Most servers write 1.
	GameModeID int
	// PortV4 and PortV6 are the UDP ports of the game. Recent vanilla versions. Clients that found the server
	// in the local network connect to them. Append leaves both out when they are zero and nothing follows.
	PortV4, PortV6 uint16
	// Extra is what follows. Recent vanilla versions and servers after them write one more, "0"; at
	// most 16 are read.
	Extra []string
	// Count is how many fields Parse found. Append does not look at it.
	Count int
}

// known is how many fields have a name, maxExtra how many more are read.
const known, maxExtra = 12, 16

// Parse reads an answer. It takes whatever is there, also of an answer that is cut off or not of this
// game: ok says whether it begins with one of the two editions.
func Parse(data []byte) (m MOTD, ok bool) {
	fields := split(string(data))
	m.Count = len(fields)
	at := func(i int) string {
		if i < len(fields) {
			return fields[i]
		}
		return ""
	}
	m.Edition = at(0)
	m.Name = at(1)
	m.Protocol = number(at(2))
	m.Version = at(3)
	m.Players, m.MaxPlayers = number(at(4)), number(at(5))
	m.GUID = guid(at(6))
	m.World = at(7)
	m.GameMode = at(8)
	m.GameModeID = number(at(9))
	m.PortV4, m.PortV6 = port(at(10)), port(at(11))
	if len(fields) > known {
		m.Extra = slices.Clone(fields[known:])
	}
	return m, m.Edition == EditionBedrock || m.Edition == EditionEducation
}

// split cuts s at the semicolons that have no backslash before them, and takes that
// backslash from the others. A last field that is empty is none.
func split(s string) []string {
	var fields []string
	var field strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] == ';':
			i++
			field.WriteByte(';')
		case c != ';':
			field.WriteByte(c)
		default:
			fields = append(fields, field.String())
			field.Reset()
			if len(fields) == known+maxExtra {
				return fields
			}
		}
	}
	if field.Len() > 0 {
		fields = append(fields, field.String())
	}
	return fields
}

// number reads a number of any sign that fits 32 bits; anything else is 0.
func number(s string) int {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// guid reads a GUID that was written signed or unsigned.
func guid(s string) int64 {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return int64(n)
}

func port(s string) uint16 {
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}

// Append appends the text to dst. Most programs that ping read no more than 397 bytes, to which
// a listener cuts its answers: keep names short.
func (m MOTD) Append(dst []byte) []byte {
	edition := strings.TrimRight(m.Edition, `\`)
	if edition == "" {
		edition = EditionBedrock
	}
	dst = appendField(dst, edition)
	dst = appendField(dst, m.Name)
	dst = appendNumber(dst, m.Protocol)
	dst = appendField(dst, m.Version)
	dst = appendNumber(dst, m.Players)
	dst = appendNumber(dst, m.MaxPlayers)
	dst = append(strconv.AppendUint(dst, uint64(m.GUID), 10), ';')
	dst = appendField(dst, m.World)
	dst = appendField(dst, m.GameMode)
	dst = appendNumber(dst, m.GameModeID)
	if m.PortV4 == 0 && m.PortV6 == 0 && len(m.Extra) == 0 {
		return dst
	}
	dst = appendNumber(dst, int(m.PortV4))
	dst = appendNumber(dst, int(m.PortV6))
	for _, s := range m.Extra {
		dst = appendField(dst, s)
	}
	return dst
}

// String returns the text.
func (m MOTD) String() string { return string(m.Append(nil)) }

// appendField writes a text with a backslash before each semicolon. Backslashes at its
// end are left out, since the last would hide the semicolon that ends the field.
func appendField(dst []byte, s string) []byte {
	s = strings.TrimRight(s, `\`)
	for i := range len(s) {
		if s[i] == ';' {
			dst = append(dst, '\\')
		}
		dst = append(dst, s[i])
	}
	return append(dst, ';')
}

func appendNumber(dst []byte, n int) []byte {
	return append(strconv.AppendInt(dst, int64(n), 10), ';')
}
