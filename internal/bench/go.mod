module github.com/raknet-go/raknet/internal/bench

go 1.26.2

require (
	github.com/pion/logging v0.2.4
	github.com/pion/sctp v1.12.1
	github.com/quic-go/quic-go v0.65.0
	github.com/raknet-go/raknet v0.0.0
	github.com/raknet-go/raknet/internal/benchnet v0.0.0
	github.com/sandertv/go-raknet v1.15.1
	github.com/stretchr/testify v1.12.1
	github.com/xtaci/kcp-go/v5 v5.7.5
	golang.org/x/sys v0.50.0
)

require (
	github.com/juju/ratelimit v1.0.2 // indirect
	github.com/klauspost/cpuid/v2 v2.4.1 // indirect
	github.com/klauspost/reedsolomon v1.14.2 // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/pion/randutil v0.1.0 // indirect
	github.com/pion/transport/v5 v5.1.4 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/tjfoc/gmsm v1.4.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/net v0.62.0 // indirect
)

replace github.com/raknet-go/raknet => ../..

replace github.com/raknet-go/raknet/internal/benchnet => ../benchnet
