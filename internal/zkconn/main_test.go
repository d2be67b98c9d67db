package zkconn_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// TestMain has random tests begin from one seed, unless another one is given: a change is judged by itself,
// and not by its luck.
func TestMain(m *testing.M) {
	flag.Parse()
	if seed := flag.Lookup("rapid.seed"); seed.Value.String() == "0" {
		if err := seed.Value.Set("11"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	suite.Main(m)
}

// fewerChecks has the random checks of a test be no more than n.
func fewerChecks(t *testing.T, n int) {
	t.Helper()
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	if usual, err := strconv.Atoi(before); err != nil || usual != 100 {
		return // more, or fewer, are asked for
	}
	if err := checks.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checks.Set(before) })
}
