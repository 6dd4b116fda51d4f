//go:build !unix && !windows

package udp

import "errors"

// socketOption stands for the options that this system does not have.
type socketOption struct{}

func (socketOption) get(uintptr) (int, error) { return 0, errors.ErrUnsupported }
func (socketOption) set(uintptr, int) error   { return errors.ErrUnsupported }

var (
	optReceiveBuffer socketOption
	optSendBuffer    socketOption
	dfOptions        []dfOption
)
