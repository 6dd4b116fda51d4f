package bedrock_test

import (
	"fmt"

	"github.com/raknet-go/raknet/protocol/bedrock"
)

func ExampleParse() {
	m, ok := bedrock.Parse([]byte("MCPE;A server;766;1.21.50;3;20;"))
	fmt.Println(ok, m.Name, m.Version, m.Players, m.MaxPlayers)
	// Output: true A server 1.21.50 3 20
}

func ExampleMOTD_Append() {
	m := bedrock.MOTD{Name: "A server", Protocol: 766, Version: "1.21.50", MaxPlayers: 20, GameMode: "Survival", GameModeID: 1, PortV4: 19132}
	fmt.Println(string(m.Append(nil)))
	// Output: MCPE;A server;766;1.21.50;0;20;0;;Survival;1;19132;0;
}
