// Package lab is the laboratory of the recovery algorithms: it runs connections of the
// real engine over simulated links in virtual time, measures what an application and the
// link would see, and says whether that is good enough.
//
// A Scenario is a link, the flows on it, and the numbers that must be reached. Run plays
// one with one congestion controller and one seed: in one goroutine, without a clock, so
// that the same arguments give the same Result to the last bit. A Report holds scenarios
// played with many controllers and seeds, and writes them as tables and plots.
//
// What is measured is what left and what arrived, as seen from outside: every datagram is
// read on its way into the link, whose verdict on it the laboratory knows at once. So it
// can tell a resend that was needed from one that was not, whatever the engine believes.
package lab
