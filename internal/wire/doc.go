// Package wire holds the codecs of the RakNet wire format: the offline packets
// that set a connection up, the datagrams that carry it, their frames, the
// acknowledgements, and the connected control messages.
//
// Everything here is stateless and free of allocation, also on failure: parse
// errors are the fixed values of errors.go, so that hostile input buys nothing.
// A Parse method reads what any known dialect sends and borrows from its input;
// an Append method writes the one form that both Bedrock and the original engine
// accept. Where the dialects differ, the comment on the type says how.
//
// Integers are big endian, except the 24-bit ones of datagrams, which are little
// endian. Trailing bytes after a complete offline packet are ignored. After an
// error the receiver of a Parse holds nothing of use.
package wire
