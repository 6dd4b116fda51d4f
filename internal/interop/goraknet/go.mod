module github.com/raknet-go/raknet/internal/interop/goraknet

go 1.26.0

require (
	github.com/raknet-go/raknet v0.0.0
	github.com/sandertv/go-raknet v1.15.1
)

require golang.org/x/sys v0.50.0 // indirect

replace github.com/raknet-go/raknet => ../../..
