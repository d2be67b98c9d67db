package measure

import "slices"

// Spread is the median and the range of the values of several rounds.
type Spread struct{ Median, Min, Max float64 }

// SpreadOf returns the spread of values. All its fields are zero if there are none.
func SpreadOf(figures []float64) Spread {
	if len(figures) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(figures))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Spread{median, sorted[0], sorted[len(sorted)-1]}
}
