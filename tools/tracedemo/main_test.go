package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputs runs the program once, and checks all its outputs.
func TestOutputs(t *testing.T) {
	otlp, svg := filepath.Join(t.TempDir(), "trace.json"), filepath.Join(t.TempDir(), "trace.svg")
	if err := run(t.Context(), []string{"-otlp", otlp, "-svg", svg}, io.Discard); err != nil {
		t.Fatal(err)
	}
	var request struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID string `json:"traceId"`
					Name    string
					Links   []struct {
						TraceID    string `json:"traceId"`
						Attributes []struct{ Key string }
					}
				}
			}
		}
	}
	data, err := os.ReadFile(otlp)
	if err == nil {
		err = json.Unmarshal(data, &request)
	}
	if err != nil {
		t.Fatal(err)
	}
	across := 0
	for _, resource := range request.ResourceSpans {
		span := resource.ScopeSpans[0].Spans[0]
		for _, link := range span.Links {
			if len(link.Attributes) > 0 && link.Attributes[0].Key == "curator.link" && link.TraceID != span.TraceID {
				across++
			}
		}
	}
	if across != 1 {
		t.Errorf("%d links from one trace to the other, want that of the waiter", across)
	}
	data, err = os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Contains(data, []byte("waits for")) {
		t.Error("the picture has no link")
	}
	var out strings.Builder
	if err := run(t.Context(), nil, &out); err != nil || !strings.Contains(out.String(), "-> billing's curator.lock.acquire") {
		t.Errorf("%v, and the text is\n%s", err, &out)
	}
}
