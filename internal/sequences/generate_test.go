package sequences_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tells returns what is told in a step of a sequence: a step brings about what must come before it, so that
// no sequence spends its length on that. It returns nothing for a step that a sequence cannot have here: a
// reply that fails with its connection does so when that ends, and nothing at the frame can have a reply come
// behind Suspended.
func (l *link) tells(s Step) []Step {
	switch {
	case l.up && (s == ReplyLost || s == ReplyUnsent || s == SessionLost):
		return []Step{Suspended, s}
	case !l.up && (s == ReplyLost || s == ReplyOK):
		return nil
	case s == WatchReset, s == Connected:
		return []Step{WatchReset, Connected}
	}
	return []Step{s}
}

// told returns what is told in a sequence, and whether a legal connection can tell that.
func told(sequence []Step) (all []Step, ok bool) {
	l := newLink()
	for _, s := range sequence {
		tells := l.tells(s)
		if len(tells) == 0 {
			return nil, false
		}
		for _, t := range tells {
			if !l.take(t) {
				return nil, false
			}
		}
		all = append(all, tells...)
	}
	return all, true
}

// sequences returns all sequences of a length, in the order of the alphabet.
func sequences(length int) (all [][]Step) {
	if length == 0 {
		return [][]Step{nil}
	}
	for _, before := range sequences(length - 1) {
		for _, s := range steps {
			next := append(slices.Clip(before), s)
			if _, ok := told(next); ok {
				all = append(all, next)
			}
		}
	}
	return all
}

// What a sequence tells is legal, and no sequence is there twice.
func TestGenerator(t *testing.T) {
	seen := map[string]bool{}
	for length := 1; length <= 4; length++ {
		for _, sequence := range sequences(length) {
			name := text(sequence)
			if all, _ := told(sequence); !legal(all) {
				t.Errorf("%s tells %s, which is not legal", name, text(all))
			}
			if seen[name] || len(sequence) != length {
				t.Errorf("%s is there twice, or not of length %d", name, length)
			}
			seen[name] = true
		}
	}
}

// The documentation of the package says how many sequences there are.
func TestNumbers(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(strings.ReplaceAll(string(doc), "//", ""))
	var n [5]int
	for length := 1; length < len(n); length++ {
		n[length] = len(sequences(length))
	}
	short := n[1] + n[2] + n[3]
	for _, want := range []string{
		fmt.Sprintf("There are %s sequences of length 1, %s of length 2 and %s of length 3, %s together, and %s of length 4.",
			number(n[1]), number(n[2]), number(n[3]), number(short), number(n[4])),
		fmt.Sprintf("With %d components and both beginnings that makes %s runs.", len(components), number(2*len(components)*short)),
	} {
		if !strings.Contains(strings.Join(words, " "), want) {
			t.Errorf("doc.go does not say: %s", want)
		}
	}
}

// number returns a number as text has it.
func number(n int) string {
	return regexp.MustCompile(`(\d)(\d{3})$`).ReplaceAllString(fmt.Sprint(n), "$1,$2")
}
