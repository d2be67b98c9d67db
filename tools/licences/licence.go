package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// licence is a permitted licence, with sentences by which its text is recognized.
type licence struct {
	name       string
	says       []string
	lacks      string // a sentence that another licence has beside these
	notShipped bool   // modules of the library and of the command must not have it
}

// allowed has the licences that are compatible with Apache-2.0.
var allowed = []licence{
	{name: "Apache-2.0", says: []string{"Apache License", "Version 2.0, January 2004"}},
	{name: "BSD-3-Clause", says: []string{"Redistribution and use in source and binary forms", "endorse or promote products derived from"}},
	{name: "BSD-2-Clause", says: []string{"Redistribution and use in source and binary forms"}, lacks: "endorse or promote products derived from"},
	{name: "MIT", says: []string{"Permission is hereby granted, free of charge, to any person obtaining a copy"}},
	{name: "ISC", says: []string{"Permission to use, copy, modify, and/or distribute this software for any purpose"}},
	{name: "CC0-1.0", says: []string{"Creative Commons Legal Code", "CC0 1.0 Universal"}, notShipped: true},
	{name: "MPL-2.0", says: []string{"Mozilla Public License Version 2.0"}, notShipped: true},
	{name: "CC-BY-4.0", says: []string{"Creative Commons Attribution 4.0"}, notShipped: true},
	{name: "FTL, at choice GPL-2.0", says: []string{"your choice of exactly one of the following two licenses", "The FreeType License"}, notShipped: true},
}

// shipped has the parts that users get.
var shipped = []string{libraryName, commandName}

// classify returns the licences with the given text, which may be several, one after the other.
func classify(text string) (found []licence) {
	text = strings.Join(strings.Fields(text), " ")
	for _, l := range allowed {
		if containsAll(text, l.says) && (l.lacks == "" || !strings.Contains(text, l.lacks)) {
			found = append(found, l)
		}
	}
	return found
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// licenceOf returns the licences of a module.
func licenceOf(d dependency) (string, error) {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return "", err
	}
	var found []string
	for _, entry := range entries {
		base, _, _ := strings.Cut(strings.ToUpper(entry.Name()), ".")
		base, _, _ = strings.Cut(base, "-")
		if entry.IsDir() || base != "LICENSE" && base != "LICENCE" && base != "COPYING" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(d.dir, entry.Name()))
		if err != nil {
			return "", err
		}
		licences := classify(string(text))
		if len(licences) == 0 {
			return "", fmt.Errorf("%s: %s is not a known licence: read it, and add it to the variable allowed, or remove the module", d.path, entry.Name())
		}
		for _, l := range licences {
			if l.notShipped && slices.ContainsFunc(d.usedBy, func(part string) bool { return slices.Contains(shipped, part) }) {
				return "", fmt.Errorf("%s has the licence %s, which is not permitted in the library and the command", d.path, l.name)
			}
			found = append(found, l.name)
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s has no licence file in %s", d.path, d.dir)
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), ", "), nil
}

// write returns the page.
func write(used []dependency) (string, error) {
	var b strings.Builder
	b.WriteString(`# Licences

The dependencies of this module and of the nested modules, and their licences. Programs that use
the library get only the dependencies of the library. Dependencies of the library are not listed
again for other parts, and those of the command not for tests. ` + "`make licences`" + ` writes this page, and
` + "`make check`" + ` checks that it is up to date.

| module | licence | used by |
| --- | --- | --- |
`)
	for _, d := range used {
		name, err := licenceOf(d)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", d.path, name, strings.Join(d.usedBy, ", "))
	}
	return b.String(), nil
}
