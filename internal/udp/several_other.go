//go:build !linux

package udp

// listenSeveral opens one socket: these systems give all datagrams to one of several, or
// those of one peer now to this and now to that.
func listenSeveral(address string, _ int, o Options) ([]Socket, error) {
	s, err := Listen(address, o)
	if err != nil {
		return nil, err
	}
	return []Socket{s}, nil
}
