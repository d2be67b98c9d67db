package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const want = `{
  "bomFormat": "CycloneDX",
  "specVersion": "1.6",
  "version": 1,
  "metadata": {
    "component": {
      "type": "application",
      "bom-ref": "pkg:golang/example.com/a@v1.2.3%2Bdirty",
      "name": "example.com/a",
      "version": "v1.2.3+dirty",
      "purl": "pkg:golang/example.com/a@v1.2.3%2Bdirty",
      "properties": [
        {
          "name": "go:GOOS",
          "value": "windows"
        }
      ]
    }
  },
  "components": [
    {
      "type": "library",
      "bom-ref": "pkg:golang/example.com/c@v0.2.0",
      "name": "example.com/c",
      "version": "v0.2.0",
      "purl": "pkg:golang/example.com/c@v0.2.0",
      "properties": [
        {
          "name": "go:sum",
          "value": "h1:c="
        }
      ]
    },
    {
      "type": "library",
      "bom-ref": "pkg:golang/std@1.26.8",
      "name": "std",
      "version": "1.26.8",
      "purl": "pkg:golang/std@1.26.8"
    }
  ],
  "dependencies": [
    {
      "ref": "pkg:golang/example.com/a@v1.2.3%2Bdirty",
      "dependsOn": [
        "pkg:golang/example.com/c@v0.2.0",
        "pkg:golang/std@1.26.8"
      ]
    }
  ]
}`

func TestBill(t *testing.T) {
	got, err := json.MarshalIndent(billOf(&debug.BuildInfo{
		GoVersion: "go1.26.8",
		Main:      debug.Module{Path: "example.com/a", Version: "v1.2.3+dirty"},
		Deps: []*debug.Module{{
			Path: "example.com/b", Version: "v0.1.0",
			Replace: &debug.Module{Path: "example.com/c", Version: "v0.2.0", Sum: "h1:c="},
		}},
		Settings: []debug.BuildSetting{{Key: "-compiler", Value: "gc"}, {Key: "GOOS", Value: "windows"}},
	}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestBinary reads the binary of this test.
func TestBinary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(&out, self); err != nil || !bytes.Contains(out.Bytes(), []byte(`"name": "std"`)) {
		t.Errorf("%v: %s", err, out.String())
	}
	if err := run(&out, "main_test.go"); err == nil {
		t.Error("a text is no binary")
	}
}
