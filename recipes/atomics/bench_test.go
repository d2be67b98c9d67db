package atomics_test

import (
	"testing"

	"github.com/go-curator/curator/recipes/atomics"
	"github.com/go-curator/curator/tools/curatortest"
)

// BenchmarkNext gives out numbers of a block.
func BenchmarkNext(b *testing.B) {
	client := curatortest.Start(b).Client(b)
	number, err := atomics.NewDistributedAtomicLong(client, "/ids", often)
	if err != nil {
		b.Fatal(err)
	}
	ids, err := atomics.NewCachedAtomicNumber(number, 1<<40)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := ids.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIncrement is a lone writer.
func BenchmarkIncrement(b *testing.B) {
	client := curatortest.Start(b).Client(b)
	number, err := atomics.NewDistributedAtomicLong(client, "/ids", often)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := number.Increment(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
