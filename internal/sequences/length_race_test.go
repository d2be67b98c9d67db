//go:build race

package sequences_test

// usual: with the race detector sequences take several times as long. Those of length 3 are run so every week.
const usual = 2
