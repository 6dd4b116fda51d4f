// Package hostile reads testdata/hostile.json, datagrams that some peer chokes on or
// could be made to, damages them in every way there is to damage one byte, and plays
// what comes of it against whatever a test gives it. It is for tests.
package hostile

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// The contexts: what meets the datagrams.
const (
	ServerOffline   = "server-offline"
	ClientOffline   = "client-offline"
	ServerConnected = "server-connected"
	ClientConnected = "client-connected"
)

// Vector is one entry of the file, which describes its fields.
type Vector struct {
	ID, Context, State, Config, Expect, Why string
	// Datagrams are played in this order. Padding is in them; a cookie is not.
	Datagrams [][]byte
	// Patch says where a cookie belongs, from whom, and how old it is by then.
	Patch struct {
		Cookie     int    // offset; 0: none
		DelayS     int    `json:"delay_s"`
		CookieFrom string `json:"cookie_from"`
	}
}

// Load returns the vectors of the given contexts in the order of the file; of all without any.
func Load(contexts ...string) ([]Vector, error) {
	path, err := find("testdata/hostile.json")
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Vectors []struct {
			Vector
			Hex   texts
			PadTo int `json:"pad_to"`
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var all []Vector
	for _, entry := range file.Vectors {
		v := entry.Vector
		if len(contexts) > 0 && !slices.Contains(contexts, v.Context) {
			continue
		}
		for _, s := range entry.Hex {
			d, err := hex.DecodeString(s)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", path, v.ID, err)
			}
			v.Datagrams = append(v.Datagrams, append(d, make([]byte, max(0, entry.PadTo-len(d)))...))
		}
		if len(v.Datagrams) == 0 {
			return nil, fmt.Errorf("%s: %s has no datagrams", path, v.ID)
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no vectors for %q", path, contexts)
	}
	return all, nil
}

// texts is a string or a list of them.
type texts []string

// UnmarshalJSON takes either form.
func (t *texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// find walks up from the working directory, which in a test is its package's, until
// the path leads to a file.
func find(path string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		full := filepath.Join(dir, filepath.FromSlash(path))
		if _, err := os.Stat(full); err == nil {
			return full, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New(path + " is in no directory above")
		}
		dir = up
	}
}
