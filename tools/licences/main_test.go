package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	own, err := os.ReadFile(filepath.Join("..", "..", "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	const bsd = "Redistribution and use in source\n   and binary forms, with or without"
	const bsd3 = bsd + "\nmay be used to endorse or\npromote products derived from this"
	for text, want := range map[string]string{
		string(own): "Apache-2.0",
		bsd:         "BSD-2-Clause",
		bsd3:        "BSD-3-Clause",
		"Permission is hereby granted, free of charge, to any person\nobtaining a copy of": "MIT",
		string(own) + "\n-----\n" + bsd3: "Apache-2.0, BSD-3-Clause", // as OpenTelemetry's
		"GNU GENERAL PUBLIC LICENSE":     "",
		"":                               "",
	} {
		var names []string
		for _, l := range classify(text) {
			names = append(names, l.name)
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

func TestLicenceOf(t *testing.T) {
	dir := t.TempDir()
	if _, err := licenceOf(dependency{path: "example.com/none", dir: dir}); err == nil || !strings.Contains(err.Error(), "no licence file") {
		t.Errorf("without a file: %v", err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("README.md", "no licence")
	write("LICENSE.md", "Permission is hereby granted, free of charge, to any person obtaining a copy")
	if got, err := licenceOf(dependency{path: "example.com/mit", dir: dir}); got != "MIT" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	write("LICENSE", "Creative Commons Attribution 4.0 International")
	if got, err := licenceOf(dependency{path: "example.com/cc", dir: dir, usedBy: []string{"`tools/bench/compare`"}}); got != "CC-BY-4.0, MIT" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := licenceOf(dependency{path: "example.com/cc", dir: dir, usedBy: []string{libraryName}}); err == nil || !strings.Contains(err.Error(), "is not permitted in the library") {
		t.Errorf("in the library: %v", err)
	}
	write("COPYING", "all rights reserved")
	if _, err := licenceOf(dependency{path: "example.com/other", dir: dir}); err == nil || !strings.Contains(err.Error(), "COPYING") {
		t.Errorf("another licence: %v", err)
	}
}

// TestUses checks that the nested modules are found.
func TestUses(t *testing.T) {
	parts, err := uses(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	for _, want := range []string{"the library", "`tools/curatorvet`", "`docs/examples`"} {
		if !strings.Contains(strings.Join(names, "\n"), want) {
			t.Errorf("%s is not among %q", want, names)
		}
	}
}
