package raknet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/raknet-go/raknet"
)

// A server that sends every message back, and a client of it.
func Example() {
	listener, err := raknet.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go io.Copy(conn, conn)
		}
	}()

	conn, err := raknet.Dial(listener.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("\xfehello")); err != nil {
		fmt.Println(err)
		return
	}
	answer, err := conn.ReadPacket()
	fmt.Printf("%q %v\n", answer, err)
	// Output: "\xfehello" <nil>
}

// Positions are sent often and soon outdated: a late one is of no use. The next
// message on channel 1 does not wait for a lost one.
func ExampleConn_Send() {
	move := func(ctx context.Context, conn *raknet.Conn, position []byte) error {
		_, err := conn.Send(ctx, position, raknet.SendOptions{
			Reliability: raknet.UnreliableSequenced,
			Channel:     1,
		})
		return err
	}
	_ = move
}

// To be sure that the last message arrives, wait for its receipt before Close.
func ExampleReceipt() {
	farewell := func(ctx context.Context, conn *raknet.Conn) error {
		defer conn.Close()
		receipt, err := conn.Send(ctx, []byte("\xfegood-bye"), raknet.SendOptions{Reliability: raknet.ReliableOrderedWithReceipt})
		if err != nil {
			return err
		}
		select {
		case <-receipt.Done():
			return receipt.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	_ = farewell
}

// A read loop that tells apart how a connection ended.
func ExampleConn_ReadPacket() {
	serve := func(conn *raknet.Conn, handle func([]byte)) {
		defer conn.Close()
		for {
			packet, err := conn.ReadPacket()
			switch {
			case err == nil:
				handle(packet)
				continue
			case errors.Is(err, io.EOF):
				fmt.Println("the client left")
			case errors.Is(err, raknet.ErrIdleTimeout):
				fmt.Println("the client vanished")
			default:
				fmt.Println("the connection ended:", err)
			}
			return
		}
	}
	_ = serve
}

// Clients are turned away before they cost any memory.
func ExampleListenConfig() {
	banned := map[netip.Addr]bool{}
	config := raknet.ListenConfig{
		MaxConnections: 100,
		Admit: func(r *raknet.ConnRequest) error {
			if banned[r.AddrPort.Addr()] {
				return &raknet.RejectedError{Reason: raknet.RejectBanned}
			}
			return nil
		},
		Timeouts: raknet.Timeouts{Idle: 30 * time.Second},
	}
	listener, err := config.Listen("127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	listener.PongData([]byte("my server"))
	pong, err := raknet.Ping(listener.Addr().String())
	fmt.Println(string(pong), err)

	// Let everybody finish before the program ends.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	fmt.Println(listener.Shutdown(ctx))
	// Output:
	// my server <nil>
	// <nil>
}
