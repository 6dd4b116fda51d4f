// Package archtest holds the tests that keep the project's architecture: which
// package may import which, what the clock-free core may not touch, what the
// module may depend on, and how source files look. It has no code of its own.
package archtest
