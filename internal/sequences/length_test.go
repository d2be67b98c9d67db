//go:build !race

package sequences_test

// usual is the length of the longest sequences, unless -length says another one.
const usual = 3
