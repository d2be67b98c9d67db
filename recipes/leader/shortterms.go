package leader

import (
	"time"

	"github.com/go-curator/curator/internal/wait"
)

const (
	shortTerm    = 10 * time.Millisecond // a term in which nothing was done, as a rule
	patientTerms = 100                   // how many of these in a row go on without a pause
)

// shortTerms counts short terms in a row. The zero value is ready to use.
type shortTerms struct {
	n    int
	pace wait.Pace
}

// next takes note of a term, and returns the pause behind it.
func (s *shortTerms) next(took time.Duration) time.Duration {
	if took >= shortTerm {
		*s = shortTerms{}
		return 0
	}
	if s.n++; s.n <= patientTerms {
		return 0
	}
	s.pace.First, s.pace.Most = shortTerm, 25*shortTerm
	return s.pace.Next()
}
