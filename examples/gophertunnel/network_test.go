package gophertunnel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/raknet-go/raknet"
	_ "github.com/raknet-go/raknet/examples/gophertunnel"
	"github.com/sandertv/gophertunnel/minecraft"
	"github.com/sandertv/gophertunnel/minecraft/protocol/packet"
)

// Example is a server and a player of gophertunnel, whose transport is this library.
func Example() {
	server, err := minecraft.ListenConfig{
		AuthenticationDisabled: true,
		StatusProvider:         minecraft.NewStatusProvider("over raknet-go", ""),
	}.Listen("raknet", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	go func() {
		c, err := server.Accept()
		if err != nil {
			return
		}
		player := c.(*minecraft.Conn)
		if err := player.StartGame(minecraft.GameData{WorldName: "a world"}); err != nil {
			return
		}
		_ = player.WritePacket(&packet.Text{TextType: packet.TextTypeRaw, Message: "welcome"})
		for { // until the player leaves
			if _, err := player.ReadPacket(); err != nil {
				return
			}
		}
	}()

	player, err := minecraft.DialTimeout("raknet", server.Addr().String(), time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer player.Close()
	if err := player.DoSpawn(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(player.GameData().WorldName)
	for {
		p, err := player.ReadPacket()
		if err != nil {
			fmt.Println(err)
			return
		}
		if text, ok := p.(*packet.Text); ok {
			fmt.Println(text.Message)
			return
		}
	}
}

// A player joins and spawns. A server of gophertunnel that gets an answer before it says that it expects one puts it aside for ever, so a
// player may have to try again.
func TestAPlayerSpawns(t *testing.T) {
	server, err := minecraft.ListenConfig{
		AuthenticationDisabled: true, StatusProvider: minecraft.NewStatusProvider("over raknet-go", ""),
	}.Listen("raknet", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() { _ = c.(*minecraft.Conn).StartGame(minecraft.GameData{WorldName: "a world"}) }()
		}
	}()
	for range 5 {
		player, err := minecraft.DialTimeout("raknet", server.Addr().String(), 10*time.Second)
		if err != nil {
			t.Log(err)
			continue
		}
		defer player.Close()
		if err := player.DoSpawnTimeout(10 * time.Second); err != nil {
			t.Log(err)
			continue
		}
		if name := player.GameData().WorldName; name != "a world" {
			t.Fatalf("the world is called %q", name)
		}
		return
	}
	t.Fatal("the player did not spawn")
}

// The adapter is what answers pings.
func TestPingsAreAnsweredByThisLibrary(t *testing.T) {
	server, err := minecraft.ListenConfig{
		AuthenticationDisabled: true, StatusProvider: minecraft.NewStatusProvider("over raknet-go", ""),
	}.Listen("raknet", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	data, err := raknet.PingTimeout(server.Addr().String(), 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", data)
}
