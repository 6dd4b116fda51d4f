// Package interop holds what is needed to put this library face to face with other RakNet implementations: a common shape for
// peers ([Peer], [Link]), peers that live in a process of their own and speak a line protocol ([Process]), and the conversations
// every pair must manage ([Cases]).
//
// A conversation is written once and runs with any peer at either end, so the peers can also be tried against each other: a failure
// between this library and a peer means little while that peer fails against a third one as well.
//
// Every conversation goes through a relay ([Path]): over a path without faults, and over one that loses datagrams and lets others come
// late. The relay keeps what was sent, and a packet dissector that others wrote reads all that came from this library ([Dissect]).
//
// Package ours, below this one, is the library as a peer. The directory peers has the peers that run in Node.js; `npm ci` in there
// fetches them. The directories goraknet and gophertunnel are Go modules of their own, so that the library doesn't depend on other
// implementations. The command table makes docs/INTEROP.md of the results.
//
// Environment variables: RAKNET_INTEROP=require plays everything and lets no peer be missing; without it, short conversations over the
// clean path are held with the peers that are there. [SeedVariable] varies the luck of relays, [ResultsVariable] and [CapturesVariable]
// name directories for what came of it.
//
// What a peer cannot do is written down beside the tests as a fault of that peer; the test then says so in its skip message.
package interop
