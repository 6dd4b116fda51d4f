package endpoint

import (
	"context"
	"log/slog"
	"sync"
)

// logger hands lines to the user's logger without ever waiting for it: a goroutine
// that exists only while there are lines does the calls.
type logger struct {
	to *slog.Logger // nil: discard

	mu      sync.Mutex
	lines   []logLine
	running bool
	dropped int
}

type logLine struct {
	level slog.Level
	text  string
	args  []any
}

func (l *logger) log(level slog.Level, text string, args ...any) {
	if l.to == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) >= logLines {
		l.dropped++
		return
	}
	l.lines = append(l.lines, logLine{level, text, args})
	if !l.running {
		l.running = true
		go l.run()
	}
}

func (l *logger) run() {
	for {
		l.mu.Lock()
		lines, dropped := l.lines, l.dropped
		l.lines, l.dropped = nil, 0
		if len(lines) == 0 && dropped == 0 {
			l.running = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		for _, n := range lines {
			l.to.Log(context.Background(), n.level, n.text, n.args...)
		}
		if dropped > 0 {
			l.to.Warn("log lines dropped", "lines", dropped)
		}
	}
}
