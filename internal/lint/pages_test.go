package lint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are the Markdown files of the repository.
func pages(all []*source) []*source {
	return slices.DeleteFunc(slices.Clone(all), func(s *source) bool { return path.Ext(s.path) != ".md" })
}

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the fragments that the headings of a page can be linked by.
func anchors(page *source) map[string]bool {
	known := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(string(page.text), ""), -1) {
		text := link.ReplaceAllString(m[1], "]") // a link in a heading counts by its text
		slug := strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
		for n := 1; known[slug]; n++ {
			slug = fmt.Sprintf("%s-%d", strings.TrimSuffix(slug, fmt.Sprintf("-%d", n-1)), n)
		}
		known[slug] = true
	}
	return known
}

// Links of pages lead to files of the repository, and to headings that there are.
func TestLinks(t *testing.T) {
	all := load(t)
	files, headings := map[string]bool{}, map[string]map[string]bool{}
	for _, s := range all {
		for at := s.path; at != "."; at = path.Dir(at) {
			files[at] = true
		}
	}
	for _, s := range pages(all) {
		headings[s.path] = anchors(s)
	}
	for _, s := range pages(all) {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(string(s.text), ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			target, fragment, _ := strings.Cut(m[1], "#")
			at := s.path
			if target != "" {
				at = path.Join(s.dir(), target)
			}
			switch {
			case !files[at] && !exists(path.Join("../..", at)):
				t.Errorf("%s: %s is not there", s.path, m[1])
			case fragment != "" && headings[at] != nil && !headings[at][fragment]:
				t.Errorf("%s: %s has no such heading", s.path, m[1])
			}
		}
	}
}

var space = regexp.MustCompile(`\s+`)

// The Go that pages show stands in a Go file, and so is compiled.
func TestGoOfPages(t *testing.T) {
	all := load(t)
	var code strings.Builder
	for _, s := range all {
		if path.Ext(s.path) == ".go" {
			code.Write(space.ReplaceAll(s.text, nil))
		}
	}
	compiled, shown := code.String(), 0
	for _, s := range pages(all) {
		for _, block := range strings.Split(string(s.text), "```go\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			shown++
			if isProgram := strings.HasPrefix(block, "package main\n"); isProgram {
				continue // package locks compares it with its Example
			}
			if !strings.Contains(compiled, space.ReplaceAllString(block, "")) {
				t.Errorf("%s shows what no Go file has:\n%s", s.path, block)
			}
		}
	}
	if shown < 50 {
		t.Errorf("%d blocks of Go", shown)
	}
}
