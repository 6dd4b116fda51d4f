package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"
)

// A message says which flow it is of, its number there and when it was sent. Its other
// bytes follow from the number, so that the receiver knows each of them.

const (
	messageID     = 0xfe
	messageHeader = 14
	// step is how much further on in the filling the next message begins.
	step = 7919
)

// filling is where the bytes of messages are taken from.
var filling = func() []byte {
	b := make([]byte, 256<<10)
	r := rand.NewChaCha8([32]byte{1})
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], r.Uint64())
	}
	return b
}()

func body(flow byte, number uint32, n int) []byte {
	at := (int(number)*step + int(flow)*31) % (len(filling) - n)
	return filling[at : at+n]
}

// compose writes a message over the whole of b.
func compose(b []byte, flow byte, number uint32, at time.Duration) {
	b[0], b[1] = messageID, flow
	binary.BigEndian.PutUint32(b[2:], number)
	binary.BigEndian.PutUint64(b[6:], uint64(at))
	copy(b[messageHeader:], body(flow, number, len(b)-messageHeader))
}

// check reads a message of the given size, which must be the given one of a flow.
func check(b []byte, size int, flow byte, number uint32) (sent time.Duration, err error) {
	switch {
	case len(b) != size || b[0] != messageID:
		return 0, fmt.Errorf("a message of %d bytes came that was not sent", len(b))
	case b[1] != flow:
		return 0, fmt.Errorf("a message of flow %d came to flow %d", b[1], flow)
	case binary.BigEndian.Uint32(b[2:]) != number:
		return 0, fmt.Errorf("message %d came when %d was next", binary.BigEndian.Uint32(b[2:]), number)
	case !bytes.Equal(b[messageHeader:], body(flow, number, size-messageHeader)):
		return 0, fmt.Errorf("message %d came with other bytes than it was sent with", number)
	}
	return time.Duration(binary.BigEndian.Uint64(b[6:])), nil
}
