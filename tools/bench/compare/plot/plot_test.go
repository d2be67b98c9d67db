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

// write writes results: a floor, Java with one point, and ours with two points, one of which was
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
	add("solo", results.Ours, 0, 500)
	add("solo", results.Ours, 1, 1000)
	add("contend-8", results.Ours, 0, 300)
	path := filepath.Join(t.TempDir(), "results.json")
	if err := f.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDraw(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "plots")
	if err := draw(directory, []string{write(t)}); err != nil {
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
	if err := draw(directory, []string{filepath.Join(directory, "none.json")}); err == nil {
		t.Error("figures that are not there were drawn")
	}
}

func TestLines(t *testing.T) {
	f, err := results.Read(write(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []line{
		{peer: results.Ours, points: plotter.XYs{{X: 1, Y: 750}, {X: 8, Y: 300}}},
		{peer: "java", points: plotter.XYs{{X: 1, Y: 400}}},
	}
	if got := charts[0].lines(f); !slices.EqualFunc(got, want, equal) {
		t.Errorf("%v, want %v", got, want)
	}
}

func equal(a, b line) bool {
	return a.peer == b.peer && a.about == b.about && a.dashed == b.dashed && slices.Equal(a.points, b.points)
}

// TestDistance draws two results, the one with the greater distance first. One of them has no results
// of Java.
func TestDistance(t *testing.T) {
	near, err := results.Read(write(t))
	if err != nil {
		t.Fatal(err)
	}
	far := &results.File{Setting: results.Setting{Distance: 10 * time.Millisecond}, Turns: []results.Turn{
		{Workload: "solo", Peer: results.Ours, Run: measure.Run{Operations: 20, Elapsed: time.Second}},
	}}
	files := []*results.File{far, near}
	want := []line{{peer: results.Ours, about: ", solo", dashed: true, points: plotter.XYs{
		{X: here, Y: 1.5}, // the median of times, not of rates
		{X: 10, Y: 50},
	}}}
	if got := distanceLines(files); !slices.EqualFunc(got, want, equal) {
		t.Errorf("%v, want %v", got, want)
	}
	path := filepath.Join(t.TempDir(), "far.json.gz")
	if err := far.Write(path); err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	if err := draw(directory, []string{write(t), path}); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(filepath.Join(directory, "distance.svg"))
	if err != nil || !strings.Contains(string(svg), "curator, solo") || !strings.Contains(string(svg), "10ms") {
		t.Errorf("%.200s, %v", svg, err)
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
