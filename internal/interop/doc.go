// Package interop holds what is needed to put this library face to face with other RakNet implementations: a common shape for
// peers ([Peer], [Link]), peers that live in a process of their own and speak a line protocol ([Process]), and the conversations
// every pair must manage ([Cases]).
//
// A conversation is written once and runs with any peer at either end, so the peers can also be tried against each other: a failure
// between this library and a peer means little while that peer fails against a third one as well.
//
// Package ours, below this one, is the library as a peer. The directory peers has the peers that run in Node.js; `npm ci` in there
// fetches them. The directory goraknet is a Go module of its own, so that the library doesn't depend on another implementation.
//
// What a peer cannot do is written down beside the tests as a fault of that peer; the test then says so in its skip message.
package interop
