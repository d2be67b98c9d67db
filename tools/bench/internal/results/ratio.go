package results

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// Ours is the peer that the others are compared with.
const Ours = "curator"

// Ratio returns how many times as fast as another peer ours is for a workload. It is the median of the
// ratios of the rounds, because rounds differ more than the turns of one round. ok is false if the two
// have no round in common.
func (f *File) Ratio(workload, peer string) (ratio float64, ok bool) {
	ours := f.Runs(workload, Ours)
	var ratios []float64
	for round, theirs := range f.Runs(workload, peer) {
		if our, ok := ours[round]; ok && theirs.Rate() > 0 {
			ratios = append(ratios, our.Rate()/theirs.Rate())
		}
	}
	return measure.SpreadOf(ratios).Median, len(ratios) > 0
}

// ErrSlower is returned by Check if a ratio is too small.
var ErrSlower = errors.New("slower than recorded, compared with other peers")

// Check compares the ratios of f with recorded ones, and writes a line for each. A ratio may be smaller
// than the recorded one by the tolerance, a share of the recorded one.
func (f *File) Check(recorded *File, tolerance float64, out io.Writer) error {
	compared, slower := 0, 0
	for _, w := range recorded.Workloads {
		for _, peer := range recorded.Peers(w.Name) {
			was, ok := recorded.Ratio(w.Name, peer)
			if !ok || peer == Ours {
				continue
			}
			is, ok := f.Ratio(w.Name, peer)
			if !ok {
				if _, err := fmt.Fprintf(out, "%-12s %-14s recorded %s, not measured now\n", w.Name, peer, significant(was)); err != nil {
					return err
				}
				continue
			}
			compared++
			verdict := "as recorded"
			switch {
			case is < was*(1-tolerance):
				verdict = "SLOWER"
				slower++
			case is*(1-tolerance) > was:
				verdict = "faster"
			}
			if _, err := fmt.Fprintf(out, "%-12s %-14s recorded %s, now %s: %s\n", w.Name, peer, significant(was), significant(is), verdict); err != nil {
				return err
			}
		}
	}
	switch {
	case compared == 0:
		return errors.New("no recorded ratio was measured")
	case slower > 0:
		return fmt.Errorf("%w: %d of %d ratios", ErrSlower, slower, compared)
	}
	return nil
}
