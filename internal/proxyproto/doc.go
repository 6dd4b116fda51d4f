// Package proxyproto reads the headers of the PROXY protocol, versions 1 and 2, by which a
// proxy tells in front of a datagram whose it is. It only parses: whom to believe is
// the caller's affair. It reads no further than the header.
package proxyproto
