package lab

import (
	"strconv"
	"strings"

	"github.com/raknet-go/raknet/internal/arq"
)

// Controller is a congestion controller by name.
type Controller struct {
	Name string
	New  func(mtu int) arq.Controller
}

// DefaultController is the name of the one that connections have when nobody chose.
const DefaultController = "model"

// Controllers are all that the laboratory compares, in the order of its tables.
var Controllers = []Controller{
	{"model", arq.NewModel},
	{"cubic", arq.NewCubic},
	{"sliding", arq.NewSliding},
	{"fixed-512", arq.NewFixed(512)},
}

// FindController returns the controller of that name; "fixed-N" is known for every N.
func FindController(name string) (Controller, bool) {
	for _, c := range Controllers {
		if c.Name == name {
			return c, true
		}
	}
	if n, ok := strings.CutPrefix(name, "fixed-"); ok {
		if n, err := strconv.Atoi(n); err == nil && n > 0 {
			return Controller{name, arq.NewFixed(n)}, true
		}
	}
	return Controller{}, false
}
