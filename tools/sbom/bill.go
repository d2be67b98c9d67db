package main

import (
	"cmp"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
)

// bill has the fields of CycloneDX that this program writes.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// billOf returns the bill of a binary. The binary does not contain which module needs which other
// one, so all modules are dependencies of the program itself.
func billOf(info *debug.BuildInfo) bill {
	program := newComponent("application", &info.Main)
	for _, setting := range info.Settings {
		switch setting.Key {
		case "GOOS", "GOARCH", "vcs.revision", "vcs.modified":
			program.Properties = append(program.Properties, property{"go:" + setting.Key, setting.Value})
		}
	}
	std := &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
	components := []component{newComponent("library", std)}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		components = append(components, newComponent("library", module))
	}
	slices.SortFunc(components, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	refs := make([]string, len(components))
	for i, c := range components {
		refs[i] = c.Ref
	}
	return bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{program},
		Components: components, Dependencies: []dependency{{program.Ref, refs}},
	}
}

func newComponent(kind string, module *debug.Module) component {
	purl, version := "pkg:golang/"+module.Path, module.Version
	if version == "(devel)" { // it was not built from a repository
		version = ""
	}
	if version != "" {
		purl += "@" + url.QueryEscape(version)
	}
	c := component{Type: kind, Ref: purl, Name: module.Path, Version: version, PURL: purl}
	if module.Sum != "" {
		c.Properties = append(c.Properties, property{"go:sum", module.Sum}) // in the form of go.sum
	}
	return c
}
