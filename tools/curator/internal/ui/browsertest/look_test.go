package browsertest

import (
	"testing"
	"time"
)

func TestLook(t *testing.T) {
	f := newFleet(t, nil)
	f.fill()
	b := f.open(1280, 900, "recipes")
	b.untilText("Counters")
	time.Sleep(1500 * time.Millisecond)
	t.Log(b.text())
	b.scheme("light")
	b.picture("recipes-light")
	b.scheme("dark")
	b.picture("recipes-dark")
}
