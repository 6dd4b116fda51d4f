package endpoint

import (
	"context"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/raknet-go/raknet/internal/netsim"
	"github.com/raknet-go/raknet/internal/udp"
)
