package script

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/raknet-go/raknet/protocol"
)

// Payloads are written as a short text in quotes, as bytes in hex (<fe01>), as a
// control message in braces ({ping time=5}), or, when long, as a part of a pattern
// whose every byte tells where it belongs: A*3000 is the first 3000 bytes of
// pattern A, and A[1432:2864] a part of it.

// patternWord is how long a word of a pattern is: a letter and the word's number.
const patternWord = 8

// pattern returns bytes from up to but not including to of a letter's pattern.
func pattern(letter byte, from, to int) []byte {
	var b []byte
	for w := from / patternWord; w*patternWord < to; w++ {
		b = fmt.Appendf(b, "%c%07x", letter, w)
	}
	return b[from%patternWord:][:to-from]
}

// patternOf returns where in which pattern b lies, if it does. It takes two words
// to tell.
func patternOf(b []byte) (letter byte, from int, ok bool) {
	if len(b) < 2*patternWord {
		return 0, 0, false
	}
	for shift := range patternWord {
		letter = b[shift]
		n, err := strconv.ParseUint(string(b[shift+1:shift+patternWord]), 16, 32)
		from = int(n)*patternWord - shift
		if letter >= 'A' && letter <= 'Z' && err == nil && from >= 0 {
			return letter, from, string(pattern(letter, from, from+len(b))) == string(b)
		}
	}
	return 0, 0, false
}

// showPayload writes a payload so that readPayload returns it, except for long bytes of no
// pattern, which are cut. whole says that it is a message and not a fragment.
func showPayload(b []byte, whole bool) string {
	if len(b) > 0 && whole && protocol.ID(b[0]).IsControl() {
		if s, ok := showControl(b); ok {
			return s
		}
	}
	if letter, from, ok := patternOf(b); ok {
		if from == 0 && whole {
			return fmt.Sprintf("%c*%d", letter, len(b))
		}
		return fmt.Sprintf("%c[%d:%d]", letter, from, from+len(b))
	}
	const most = 48
	for _, c := range b {
		if c < ' ' || c > '~' || c == '"' || c == '\\' || len(b) > most {
			if len(b) > most {
				return fmt.Sprintf("<%x...> (%d bytes)", b[:most], len(b))
			}
			return fmt.Sprintf("<%x>", b)
		}
	}
	return `"` + string(b) + `"`
}

// readPayload is the opposite of showPayload. The token is one word, or several in braces.
func readPayload(token string) ([]byte, error) {
	bad := fmt.Errorf("payload %q is none of \"text\", <hex>, A*3000, A[0:100] and {control}", token)
	switch n := len(token); {
	case n == 0:
		return nil, bad
	case n >= 2 && token[0] == '"' && token[n-1] == '"':
		return []byte(token[1 : n-1]), nil
	case token[0] == '<' && token[n-1] == '>':
		return hex.DecodeString(token[1 : n-1])
	case token[0] == '{' && token[n-1] == '}':
		return readControl(token[1 : n-1])
	case token[0] < 'A' || token[0] > 'Z':
		return nil, bad
	}
	var from, to int
	if _, err := fmt.Sscanf(token[1:], "*%d", &to); err != nil {
		if _, err := fmt.Sscanf(token[1:], "[%d:%d]", &from, &to); err != nil {
			return nil, bad
		}
	}
	if from < 0 || to <= from || to > 64<<20 {
		return nil, bad
	}
	return pattern(token[0], from, to), nil
}
