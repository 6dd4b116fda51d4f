// Package script plays the transcripts in testdata/script: text files of comments,
// commands, and below each command what it brought about, down to every datagram.
// Two real peers (offline.Client or offline.Server, then session.Conn) talk over a
// path that a script may damage datagram by datagram. There are no sockets, one
// goroutine and virtual time, so that a script always plays the same way. The
// language is explained in testdata/script/README.md. Only tests use the package.
package script
