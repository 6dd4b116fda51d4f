// Package captures reads recorded traffic of other RakNet implementations from
// testdata/captures, for tests: golden vectors for the codecs, seeds for fuzzing,
// and scenarios to replay.
package captures

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Datagram is one recorded UDP payload.
type Datagram struct {
	At         time.Duration // since the first datagram of its recording
	FromClient bool
	Data       []byte
}

// Capture is one recorded scenario.
type Capture struct {
	Name      string // its file's name without the ending
	Title     string // the line that describes it
	Datagrams []Datagram
}

const (
	fileEnding = ".txt"
	fromClient = "C>S"
	fromServer = "S>C"
)

// Load reads the recording of the given name.
func Load(name string) (Capture, error) {
	dir, err := directory()
	if err != nil {
		return Capture{}, err
	}
	return load(filepath.Join(dir, name+fileEnding))
}

// All reads every recording, sorted by name.
func All() ([]Capture, error) {
	dir, err := directory()
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*"+fileEnding))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no recordings in %s", dir)
	}
	all := make([]Capture, 0, len(paths))
	for _, path := range paths {
		c, err := load(path)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// directory finds the recordings by walking up from the working directory, which
// in a test is its package's, to the root of the module.
func directory() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		found := filepath.Join(dir, "testdata", "captures")
		if info, err := os.Stat(found); err == nil && info.IsDir() {
			return found, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("testdata/captures is not above the working directory")
		}
		dir = parent
	}
}

func load(path string) (Capture, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Capture{}, err
	}
	c, err := parse(text)
	if err != nil {
		return Capture{}, fmt.Errorf("%s: %w", path, err)
	}
	c.Name = strings.TrimSuffix(filepath.Base(path), fileEnding)
	return c, nil
}

func parse(text []byte) (Capture, error) {
	var c Capture
	lines := bufio.NewScanner(bytes.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			if c.Title == "" {
				c.Title = strings.TrimSpace(comment)
			}
			continue
		}
		if line == "" {
			continue
		}
		d, err := parseLine(line)
		if err != nil {
			return Capture{}, fmt.Errorf("line %d: %w", number, err)
		}
		c.Datagrams = append(c.Datagrams, d)
	}
	return c, lines.Err()
}

func parseLine(line string) (Datagram, error) {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return Datagram{}, errors.New("want a time, a direction and a payload")
	}
	ms, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return Datagram{}, err
	}
	if fields[1] != fromClient && fields[1] != fromServer {
		return Datagram{}, fmt.Errorf("unknown direction %q", fields[1])
	}
	data, err := hex.DecodeString(fields[2])
	if err != nil {
		return Datagram{}, err
	}
	return Datagram{
		At:         time.Duration(math.Round(ms*1000)) * time.Microsecond,
		FromClient: fields[1] == fromClient,
		Data:       data,
	}, nil
}
