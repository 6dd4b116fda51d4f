package session

import (
	"encoding/binary"
	"fmt"

	"github.com/raknet-go/raknet/protocol"
)

// model is what one direction of a connection promises, as simply as it can be said:
// the list of what was sent, and how often each of it was delivered.
type model struct{ sent []promise }

type promise struct {
	text    string
	mode    protocol.Reliability
	channel uint8
	receipt uint64
	times   int
}

// write returns the next message of a size: it starts with its number.
func (m *model) write(mode protocol.Reliability, channel uint8, size int) promise {
	b := make([]byte, max(size, 5))
	b[0] = 0xfe
	binary.BigEndian.PutUint32(b[1:], uint32(len(m.sent)))
	for i := 5; i < len(b); i++ {
		b[i] = byte(i*i + len(m.sent))
	}
	p := promise{text: string(b), mode: mode, channel: channel}
	if mode.WithReceipt() {
		p.receipt = uint64(len(m.sent) + 1)
	}
	return p
}

// deliver notes an arrival. No mode delivers twice. What arrives on a channel keeps the
// order in which it was sent there, and no ordered message before it is missing.
func (m *model) deliver(text string) error {
	number := -1
	if len(text) >= 5 {
		number = int(binary.BigEndian.Uint32([]byte(text[1:])))
	}
	if number < 0 || number >= len(m.sent) || m.sent[number].text != text {
		return fmt.Errorf("%q was never sent", short(text))
	}
	p := &m.sent[number]
	if p.times++; p.times > 1 {
		return fmt.Errorf("%v message %d came twice", p.mode, number)
	}
	for i, o := range m.sent {
		switch {
		case !p.mode.HasChannel() || !o.mode.HasChannel() || o.channel != p.channel:
		case i < number && o.mode.IsOrdered() && o.times == 0:
			return fmt.Errorf("%v message %d came before %v message %d", p.mode, number, o.mode, i)
		case i > number && o.times > 0:
			return fmt.Errorf("%v message %d came after %v message %d", p.mode, number, o.mode, i)
		}
	}
	return nil
}

// owed returns the first reliable message that should have arrived by now and has not:
// of a sequenced one, a newer message on its channel is as good. -1: none.
func (m *model) owed() int {
	var newer [protocol.OrderingChannels]bool
	owed := -1
	for i := len(m.sent) - 1; i >= 0; i-- {
		p := &m.sent[i]
		switch {
		case p.times > 0:
			newer[p.channel] = newer[p.channel] || p.mode.HasChannel()
		case p.mode.IsReliable() && !(p.mode.IsSequenced() && newer[p.channel]):
			owed = i
		}
	}
	return owed
}
