package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// ENet is a C library, so its ends are a small C program, which is built when it is needed
// and if it can be.

//go:embed enet/enet.c
var enetSource []byte

const compileTime = 30 * time.Second

// enetDirectory is where the program is, "" before it was built.
var enetDirectory string

// enetProgram returns the path of the program. The error is a skip where there is none.
var enetProgram = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "bench-enet-")
	if err != nil {
		return "", err
	}
	enetDirectory = dir
	source, program := filepath.Join(dir, "enet.c"), filepath.Join(dir, "enet")
	if err := os.WriteFile(source, enetSource, 0o600); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), compileTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "cc", "-O2", "-o", program, source, "-lenet").CombinedOutput()
	if err != nil {
		why := err.Error()
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "error") {
				why = strings.TrimSpace(line)
				break
			}
		}
		return "", skip{fmt.Sprintf("ENet does not build here (Debian has it as libenet-dev): %s", why)}
	}
	return program, nil
})

// removeENet removes what was built.
func removeENet() {
	if enetDirectory != "" {
		_ = os.RemoveAll(enetDirectory)
	}
}
