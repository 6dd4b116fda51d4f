package arq

// slack decides when storage that grew in a burst is given back: not at once, or a
// connection whose load comes in waves would allocate in every one of them, but
// when it has run empty slackRounds times in a row without using a quarter.
type slack struct {
	peak   int
	rounds uint8
}

const slackRounds = 64 // arbitrary

// used notes that n places are in use.
func (s *slack) used(n int) {
	if n > s.peak {
		s.peak = n
	}
}

// emptied notes that none is, and reports whether storage of the given capacity
// should be dropped. Storage of up to keep places never is.
func (s *slack) emptied(capacity, keep int) bool {
	if s.peak*4 > capacity || capacity <= keep {
		s.rounds = 0
	} else {
		s.rounds++
	}
	s.peak = 0
	if s.rounds < slackRounds {
		return false
	}
	s.rounds = 0
	return true
}
