package endpoint

import (
	"time"

	"github.com/raknet-go/raknet/internal/monotime"
	"github.com/raknet-go/raknet/protocol"
)

// Every bound of the runtime that no user sets, and the defaults of those that
// users do set.
const (
	// readBatch is how many datagrams one call reads at most. It bounds how long
	// the first of a batch waits for its answer behind the others. An endpoint begins
	// with readFirst, since each holds a buffer of 2 KiB, and doubles when that is not enough.
	readBatch = 64
	readFirst = 4
	// holdDatagrams is how many datagrams in a row are applied to one connection
	// under one hold of its lock. A sender of many may make its own user wait that
	// long, some 50 µs.
	holdDatagrams = 64
	// behindFor is how long the socket may have had more than the reader took before what comes is
	// shed: of each batch no more than behindShare datagrams of one connection, of all connections
	// together that clients have not completed, and of all strangers together are looked at. To read and drop one costs a fraction of what it would cost to answer
	// it, so that the reader catches up, and those who send little wait no longer than this behind
	// those who flood. Else the system's buffer would fill and drop everybody's alike. To
	// a sender of much it is a loss like one on the way. A lone connection is shed nothing.
	behindFor   = 2 * time.Millisecond
	behindShare = 8
	// costlyBatch is how long a batch may take, and costlyEach each of its datagrams on average, before
	// the reader sheds without waiting for behindFor: of datagrams that are made to be costly
	// three batches fill that time, and those behind them wait for all three. A datagram of a transfer
	// takes one or two microseconds. Arbitrary.
	costlyBatch = 400 * time.Microsecond
	costlyEach  = 4 * time.Microsecond

	// stepDatagrams is how many datagrams a connection sends when a shared goroutine
	// serves it; with more to send it continues on a goroutine of its own (the pump), so that
	// bulk senders do not delay the others.
	stepDatagrams = 8
	// soloStepDatagrams is the same where the socket has no other connection to delay.
	soloStepDatagrams = txBatch
	// pumpDatagrams is how many a connection's own goroutine sends before it flushes.
	pumpDatagrams = txBatch
	// linger is how long a reliable message waits at most for company while much is in
	// flight on a short path: ACKs, which come sooner, or enough to send, let it leave.
	linger = time.Millisecond
	// carryBatches is how often so many leave from the goroutine that did a turn, where the socket
	// has no other connection, before a pump goes on: a usual window.
	carryBatches = 8
	// burstGap is how long after a datagram that left from the caller's goroutine the
	// next message counts as part of a burst, unless something was received since.
	// Messages of a burst go out from the pump, which packs what has gathered. An
	// isolated message, or an answer, leaves at once.
	burstGap = 50 * time.Microsecond

	// txQueue bounds the datagrams of all connections that wait for the socket. Only
	// a socket that blocks fills it; then connections stop sending and try again
	// after txRetry. What strangers are owed is dropped instead.
	txQueue = 4096
	txRetry = time.Millisecond
	// pumpQueue is how many may wait there for a pump to add its own. Who sends much feels it no
	// less if they wait in the connection, and others' do not wait behind them.
	pumpQueue = 4 * txBatch
	// txBatch is how many datagrams one call sends: twice what the system takes as one where
	// they are full.
	txBatch = 88
	// leadBatches is how many such calls a shared or a user's goroutine makes for
	// everybody before it leaves the rest to the driver.
	leadBatches = 8
	// farewell is how long Close waits for the socket to take the last datagrams.
	farewell = 100 * time.Millisecond

	// sweepDelay is how long those who died may stay in the table while no datagram comes, so
	// that the reader is not woken for each of many. Arbitrary.
	sweepDelay = 100 * time.Millisecond
	// driverGrid is what deadlines are rounded up to where a socket has manyConns: else each of a
	// thousand ACKs that are held back for a moment would wake the driver, and leave alone.
	// Timers are late by about as much anyway. Both are arbitrary.
	driverGrid = monotime.Time(time.Millisecond)
	manyConns  = 8
	// driverPass is how many due connections are served before what they send is flushed.
	driverPass = 256

	// defaultFragments is the default of arq.Limits.MessageFragments. It is here so
	// that a message that the engine would refuse is not copied first.
	defaultFragments = 2048

	// maxRaw is the longest answer that the function for other protocols may give: what is
	// carried everywhere without being cut up.
	maxRaw = protocol.MaxMTU - protocol.UDPOverhead
	// cookieKeysFor is how long the secrets that Config.CookieKeys returned are used before it is
	// asked again.
	cookieKeysFor = time.Second
	// sampleEvery is how often one datagram of those dropped for one reason is logged, at
	// debug level. The others are counted.
	sampleEvery = time.Second
	// sampleBytes is how much of it the line shows.
	sampleBytes = 32

	defaultBacklog = 128
	// forgottenLeast is how long a dial that was granted hears nothing until it takes the server to have forgotten
	// it, forgottenTrips the same in round trips: three repetitions of what it sent, and time for a slow server. As it is mostly
	// many who are forgotten at once, each adds a random part of forgottenSpread. Once something was heard the
	// connection request is acknowledged, and only the next ones tell: so forgottenHeard is longer than
	// it takes for the third. All arbitrary.
	forgottenLeast  = 500 * time.Millisecond
	forgottenTrips  = 8
	forgottenTook   = 3 // the same where the round trip is not known, but how long the grant took with its repetitions
	forgottenSpread = 500 * time.Millisecond
	forgottenHeard  = 2 * time.Second
	// acceptPatience is how long a complete connection waits for Accept before it is closed.
	acceptPatience = 10 * time.Second
	// restartSilence is how long a connection must have been silent before a request
	// from its address, proven by a cookie, replaces it: the peer was restarted. Shorter
	// than what users wait for and longer than the gaps of a live one, which pings. Kin may be silent for
	// longer, and are asked first: see session.Conn.Forlorn.
	restartSilence = 3 * time.Second

	// maxReceipts bounds the outstanding receipts of one connection. Reliable messages
	// hold one until they are acknowledged; beyond, Send fails with ErrReceipts.
	maxReceipts = 1 << 16
	// waiterPackets is how many packets wait for a dial or a ping to look at them; more
	// are dropped. A server sends one per request.
	waiterPackets = 8

	// leadGrace is how long the reading of a socket rests after the Read that did it
	// has returned, in the hope of the next Read, before the background takes over. The
	// check runs at intervals of this length, so that it takes up to twice as long.
	leadGrace = time.Millisecond

	// backoffAfter errors in a row the reader pauses between attempts, from
	// backoffMin doubling to backoffMax: the socket may come back (sleep, a changed
	// network), and a burst of reports about unreachable peers must not slow it down.
	backoffAfter = 16
	backoffMin   = time.Millisecond
	backoffMax   = 100 * time.Millisecond
	// brokenAfter is how many errors in a row that are not known to be transient end
	// the endpoint: some 6 s of trying.
	brokenAfter = 80

	// traceRecords bounds the records of a traced connection that wait to be told; then the
	// newest displace the oldest. Each has some 90 bytes, and as many may be on their way to a
	// user's function, so that a traced connection holds up to 700 KB while its user is
	// slow, and a few KB otherwise. It is what a transfer of 500 MB/s records in 10 ms.
	traceRecords = 4096

	// logLines bounds the log lines that wait for the logger; more are dropped.
	logLines = 64
)
