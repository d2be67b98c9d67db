package model

import (
	"slices"
	"strings"
)

// Search returns the paths that have a text in them, by path, and whether there are more than
// limit. Letters match in both cases.
func (m *Model) Search(text string, limit int) (paths []string, more bool) {
	text = strings.ToLower(text)
	paths = []string{}
	for path := range m.index.nodes {
		if strings.Contains(strings.ToLower(path), text) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	if len(paths) > limit {
		return slices.Clone(paths[:limit]), true
	}
	return paths, false
}
