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

var (
	box   = regexp.MustCompile(`(\w+)(?:\["([^"]+)"\])?`)
	drawn = regexp.MustCompile(`(?m)^ +(.+) --> (.+)$`)
)

// picture is that of docs/architecture.md: which packages a box stands for, and its arrows.
type picture struct {
	boxes  map[string][]string // directories
	arrows map[string][]string
}

func readPicture(text string) picture {
	p := picture{boxes: map[string][]string{}, arrows: map[string][]string{}}
	_, text, _ = strings.Cut(text, "```mermaid\nflowchart")
	text, _, _ = strings.Cut(text, "```")
	for _, m := range drawn.FindAllStringSubmatch(text, -1) {
		var ends [2]string
		for i, end := range m[1:] {
			b := box.FindStringSubmatch(end)
			ends[i] = b[1]
			label := b[2]
			if label == "" && p.boxes[b[1]] == nil {
				label = b[1]
			}
			for dir := range strings.SplitSeq(label, ", ") {
				if dir = strings.TrimSuffix(dir, "/..."); dir != "" && dir != "..." && !slices.Contains(p.boxes[b[1]], dir) {
					p.boxes[b[1]] = append(p.boxes[b[1]], dir)
				}
			}
		}
		p.arrows[ends[0]] = append(p.arrows[ends[0]], ends[1])
	}
	return p
}

// box returns the box of a package: the one with the longest directory.
func (p picture) box(pkg string) (name string) {
	longest := ""
	for box, dirs := range p.boxes {
		for _, dir := range dirs {
			if within(pkg, dir) && len(dir) > len(longest) {
				name, longest = box, dir
			}
		}
	}
	return name
}

func (p picture) reaches(from, to string) bool {
	return from == to || slices.ContainsFunc(p.arrows[from], func(next string) bool { return p.reaches(next, to) })
}

// The picture of the packages has an arrow, or a way of several, for each import, and none for which
// there is no import.
func TestPicture(t *testing.T) {
	all := load(t)
	i := slices.IndexFunc(all, func(s *source) bool { return s.path == "docs/architecture.md" })
	if i < 0 {
		t.Fatal("docs/architecture.md is not there")
	}
	p := readPicture(string(all[i].text))
	imported := map[[2]string]bool{}
	for _, s := range all {
		if !s.isGo() || s.isTest() {
			continue
		}
		from := p.box(s.dir())
		if from == "" && library[s.top()] && s.top() != "internal" && !s.isTestOnly() {
			t.Errorf("%s is not in the picture", s.dir())
		}
		for _, spec := range s.file.Imports {
			ours, isOurs := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")
			to := p.box(ours)
			switch {
			case from != "" && isOurs && to == "" && ours != "internal/process":
				t.Errorf("%s imports %s, which is not in the picture", s.dir(), ours)
			case !isOurs || from == "" || to == "" || from == to:
			case !p.reaches(from, to):
				t.Errorf("%s imports %s: the picture has no way from %s to %s", s.dir(), ours, from, to)
			default:
				imported[[2]string{from, to}] = true
			}
		}
	}
	for from, tos := range p.arrows {
		for _, to := range tos {
			if !imported[[2]string{from, to}] {
				t.Errorf("the picture has an arrow from %s to %s, but there is no such import", from, to)
			}
		}
	}
}
