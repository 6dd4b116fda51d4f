// Package netsim is a deterministic network in virtual time.
package netsim
