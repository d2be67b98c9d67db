// Package page has the files of the page that curator ui serves: the plain HTML, CSS and
// JavaScript modules of this directory. It is safe for concurrent use.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
)

//go:embed index.html *.css *.js *.svg
var files embed.FS

// types are the content types of the files, by their extensions.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// file is a file of the page.
type file struct {
	content []byte
	kind    string
	tag     string
}

// Handler returns a handler that serves the page at / and the other files at their names.
func Handler() http.Handler {
	all := map[string]file{}
	entries, _ := fs.Glob(files, "*") // the pattern is valid
	for _, name := range entries {
		content, err := files.ReadFile(name)
		if err != nil {
			continue // impossible: the file is embedded
		}
		sum := sha256.Sum256(content)
		all["/"+name] = file{content, types[path.Ext(name)], `"` + hex.EncodeToString(sum[:8]) + `"`}
	}
	all["/"] = all["/index.html"]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := all[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f.kind)
		w.Header().Set("Cache-Control", "no-cache") // the browser asks each time, and gets the file only if it has changed
		w.Header().Set("ETag", f.tag)
		if r.Header.Get("If-None-Match") == f.tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(f.content) // it fails if the browser has gone
	})
}
