package framework_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// Answers that grow, or are of any sizes, shrink the window while reads wait to be sent: each path is read all the same.
func TestReadManyOfAnySizes(t *testing.T) {
	sizes := map[string]func(i int, rng *rand.Rand) int{
		"growing": func(i int, _ *rand.Rand) int {
			if i < 128 {
				return 100_000
			}
			return 900_000
		},
		"random":  func(_ int, rng *rand.Rand) int { return []int{0, 10, 5_000, 70_000, 300_000, 900_000}[rng.IntN(6)] },
		"falling": func(i int, _ *rand.Rand) int { return max(10, 900_000-60_000*(i/15)) },
	}
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				c, _ := b.Client(t)
				rng := rand.New(rand.NewPCG(1, 2))
				known := map[int]string{} // nodes by their size
				var paths []string
				var want []int
				for i := range 300 {
					n := size(i, rng) / 1000 * 1000
					if known[n] == "" {
						known[n] = fmt.Sprintf("%s-%d", b.Path("n"), n)
						if _, err := c.Create().CreatingParentsIfNeeded().WithData(make([]byte, n)).ForPath(t.Context(), known[n]); err != nil {
							t.Fatal(err)
						}
					}
					paths, want = append(paths, known[n]), append(want, n)
				}
				i := 0
				for path, read := range c.ReadMany(t.Context(), slices.Values(paths)) {
					if path != paths[i] || read.Err != nil || len(read.Data) != want[i] {
						t.Fatalf("%d: %s, %v, %d bytes", i, path, read.Err, len(read.Data))
					}
					i++
				}
				if i != len(paths) {
					t.Errorf("%d reads", i)
				}
			})
		})
	}
}
