//go:build !linux

// Command attack runs attacks against a listener and a dialer of this library and measures them.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "attack: processor time and memory of other processes are measured on Linux only")
	os.Exit(1)
}
