// Package netsim is a network that exists only in memory, for tests and
// demonstrations: datagrams are late, lost, doubled, damaged, overtaken or too large
// for the way, as configured and as a seed decides.
//
// It has three parts. A Pipe is one direction between two hosts: given a time and a
// datagram it says what arrives and when. It has no clock, no goroutine and no lock, so
// equal inputs give equal outputs, and a simulation in virtual time can be built on it.
// A Network joins net.PacketConns by Pipes in real time, or in that of a testing/synctest
// bubble: everything that waits in it waits on channels and timers of its own, and
// nothing is left running when it is closed.
//
// A World is a simulation on Pipes: a server, its clients and their applications, as a
// Scenario says, made of the real engines, in virtual time and in one goroutine, so that
// hours pass in seconds and every seed replays to the nanosecond. Its oracle holds each
// connection against what the protocol promises.
package netsim
