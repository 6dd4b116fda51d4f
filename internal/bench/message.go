package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// A message of bulk work begins and ends with its number. What is between is one of a few
// fillings, so that making a message costs its sender next to nothing, whatever it is sent
// with. The receiver looks at the length and both numbers of every message, and at each byte
// of one in checkEvery.
const (
	messageID   = 0xfe
	headSize    = 6 // identifier, whether it is the last, number
	tailSize    = 4
	leastSize   = headSize + tailSize
	checkEvery  = 16
	mostFilling = 8
)

// corruption is how a failure begins for which no library has an excuse.
const corruption = "corruption: "

// messages makes and checks messages of a size.
type messages struct {
	size  int
	fills [][]byte
}

func newMessages(size int) *messages {
	m := &messages{size: size}
	r := rand.NewChaCha8([32]byte{1})
	// Of large messages there are fewer, so that they stay in the processor's memory.
	for range min(max(2, 1<<18/size), mostFilling) {
		b := make([]byte, size)
		_, _ = r.Read(b)
		b[0] = messageID
		m.fills = append(m.fills, b)
	}
	return m
}

// make returns the message of a number. It is good until the next call.
func (m *messages) make(number uint32, last bool) []byte {
	b := m.fills[int(number)%len(m.fills)]
	b[1] = 0
	if last {
		b[1] = 1
	}
	binary.BigEndian.PutUint32(b[2:], number)
	binary.BigEndian.PutUint32(b[m.size-tailSize:], ^number)
	return b
}

// check reports what is wrong with a message that must have this number, and whether it is the last.
func (m *messages) check(b []byte, number uint32) (last bool, err error) {
	if len(b) != m.size || b[0] != messageID || b[1] > 1 {
		return false, fmt.Errorf(corruption+"a message of %d bytes came that was not sent", len(b))
	}
	if head, tail := binary.BigEndian.Uint32(b[2:]), ^binary.BigEndian.Uint32(b[m.size-tailSize:]); head != number || tail != number {
		return false, fmt.Errorf(corruption+"message %d, whose end is that of %d, came when %d was next", head, tail, number)
	}
	if number%checkEvery == checkEvery/2+1 {
		want := m.fills[int(number)%len(m.fills)]
		if !bytes.Equal(b[headSize:m.size-tailSize], want[headSize:m.size-tailSize]) {
			return false, fmt.Errorf(corruption+"message %d came with other bytes than it was sent with", number)
		}
	}
	return b[1] == 1, nil
}
