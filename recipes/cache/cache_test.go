package cache_test

import (
	"testing"
)

func TestFollows(t *testing.T) {
	each(t, func(f *fixture) {
		f.has("= a=1 a/b=2 a/b/c=3 d=4")
		f.write("a/b=5 e=6 -d")
		f.eventually("= a=1 a/b=5 a/b/c=3 e=6")
		f.write("-a")
		f.eventually("= e=6")
	})
}
