package view

import "strings"

// join returns the path of a child.
func join(path, name string) string { return strings.TrimSuffix(path, "/") + "/" + name }
