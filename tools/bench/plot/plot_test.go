package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/plotter"

	"github.com/go-curator/curator/tools/bench/internal/measure"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

// write writes results: a floor, Java with a point, and ours with two, one of which was
// measured twice.
func write(t *testing.T) string {
	t.Helper()
	var f results.File
	add := func(workload, peer string, round, operations int) {
		f.Turns = append(f.Turns, results.Turn{Workload: workload, Peer: peer, Round: round,
			Run: measure.Run{Operations: operations, Elapsed: time.Second}})
	}
	add("solo", "floor", 0, 1000)
	add("solo", "java", 0, 400)
	add("solo", results.Ours, 0, 600)
	add("solo", results.Ours, 1, 800)
	add("contend-8", results.Ours, 0, 300)
	path := filepath.Join(t.TempDir(), "results.json")
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDraw(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "plots")
	if err := draw(write(t), directory); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(directory)
	if err != nil || len(entries) != 1 || entries[0].Name() != "contention.svg" {
		t.Fatalf("drawn: %v, %v: want only what there are points for", entries, err)
	}
	svg, err := os.ReadFile(filepath.Join(directory, "contention.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(string(svg), "java") {
		t.Error("the legend does not name the peers")
	}
	if err := draw(filepath.Join(directory, "none.json"), directory); err == nil {
		t.Error("figures that are not there were drawn")
	}
}

func TestLines(t *testing.T) {
	f, err := results.Read(write(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []line{
		{results.Ours, plotter.XYs{{X: 1, Y: 700}, {X: 8, Y: 300}}},
		{"java", plotter.XYs{{X: 1, Y: 400}}},
	}
	equal := func(a, b line) bool { return a.peer == b.peer && slices.Equal(a.points, b.points) }
	if got := charts[0].lines(f); !slices.EqualFunc(got, want, equal) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestDecades(t *testing.T) {
	var labels []string
	for _, tick := range decades(0.3, 25) {
		labels = append(labels, tick.Label)
	}
	if got := strings.Join(labels, " "); got != "0.5 1 2 5 10 20" {
		t.Errorf("ticks %s", got)
	}
}
