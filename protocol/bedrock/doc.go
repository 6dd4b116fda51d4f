// Package bedrock reads and writes what servers of Minecraft: Bedrock Edition answer to
// server list pings: text fields, each ended by a semicolon.
//
//	MCPE;A server;766;1.21.50;3;20;13253860892328930865;world;Survival;1;19132;19133;0;
//
// It imports nothing but the standard library. Use it with [raknet.Listener.PongData] and
// [raknet.Dialer.PingInfo]:
//
//	listener.PongData(bedrock.MOTD{Name: "A server", Protocol: 766, Version: "1.21.50", MaxPlayers: 20}.Append(nil))
//
// There is no official description of the fields. Where each comes from is told at its name: "vanilla" is
// what the game and the servers of its maker send, as the game's wiki and other implementations
// describe it; "servers" is what those others write in its place, as seen on the wire.
//
// [raknet.Listener.PongData]: https://pkg.go.dev/github.com/raknet-go/raknet#Listener.PongData
// [raknet.Dialer.PingInfo]: https://pkg.go.dev/github.com/raknet-go/raknet#Dialer.PingInfo
package bedrock
