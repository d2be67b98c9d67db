package ui_test

import (
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
)

// The answer for a node whose data is deeply nested JSON is not much longer than the data: indented, the
// data would grow with the square of its depth.
func TestDeepJSON(t *testing.T) {
	e := newEnv(t, nil)
	e.login()
	data := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	e.create("/deep", data, framework.Persistent)
	for _, path := range []string{"/api/node?path=/deep", "/api/node?path=/deep&all=1"} {
		if r := e.send("GET", path, "", nil); r.status != 200 || len(r.body) > 4*len(data) {
			t.Errorf("%s: status %d, %d bytes for %d bytes of data", path, r.status, len(r.body), len(data))
		}
	}
}
