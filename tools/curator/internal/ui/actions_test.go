package ui_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/ui"
)

// Each action is done or refused, and is logged.
func TestActions(t *testing.T) {
	e := newEnv(t, func(cfg *ui.Config) { cfg.Actions = true })
	e.login()
	data := base64.StdEncoding.EncodeToString([]byte("new"))
	for name, tt := range map[string]struct {
		action  string
		path    string // of a node that the test creates with the data "old"
		version int
		token   int64 // is added to the node's token
		extra   string
		want    int
		text    string // a part of the answer
		after   string // the data after the action; "-" if the node is deleted
	}{
		"break":                    {action: "break", path: "/a/lock-", want: 200, after: "-"},
		"break another one":        {action: "break", path: "/b/lock-", token: 1, want: 409, text: "the node was deleted, or is another one now", after: "old"},
		"revoke":                   {action: "revoke", path: "/c/lock-", want: 200, after: "__REVOKE__"},
		"revoke another one":       {action: "revoke", path: "/d/lock-", token: -1, want: 409, after: "old"},
		"delete":                   {action: "delete", path: "/e", want: 200, after: "-"},
		"delete another version":   {action: "delete", path: "/f", version: 3, want: 409, text: "has changed meanwhile", after: "old"},
		"delete another one":       {action: "delete", path: "/g", token: 7, want: 409, after: "old"},
		"set":                      {action: "set", path: "/h", extra: `,"data":"` + data + `"`, want: 200, after: "new"},
		"set another version":      {action: "set", path: "/i", version: 1, extra: `,"data":"` + data + `"`, want: 409, after: "old"},
		"set what is no base64":    {action: "set", path: "/j", extra: `,"data":"?"`, want: 400, after: "old"},
		"set what is too long":     {action: "set", path: "/k", extra: `,"data":"` + strings.Repeat("AAAA", 600_000) + `"`, want: 400, after: "old"},
		"an action that is none":   {action: "chmod", path: "/l", want: 400, after: "old"},
		"nobody":                   {action: "delete", path: "/m", extra: `,"who":" "`, want: 400, text: "your name", after: "old"},
		"a name that is not clean": {action: "delete", path: "/n", extra: `,"who":"a\nb"`, want: 400, after: "old"},
	} {
		t.Run(name, func(t *testing.T) {
			mode := framework.Persistent
			if strings.HasSuffix(tt.path, "-") {
				mode = framework.EphemeralSequential
			}
			path := e.create(tt.path, "old", mode)
			var stat framework.Stat
			if _, err := e.client.CheckExists().StoringStatIn(&stat).ForPath(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			body := fmt.Sprintf(`{"action":%q,"path":%q,"token":"%d","version":%d,"who":"ann"%s}`, tt.action, path, stat.Czxid+tt.token, tt.version, tt.extra)
			r := e.send("POST", "/api/act", body, nil)
			if r.status != tt.want || !strings.Contains(r.body, tt.text) {
				t.Errorf("%d %s", r.status, r.body)
			}
			after, ok := e.server.Get(path)
			if !ok {
				after = []byte("-")
			}
			if string(after) != tt.after {
				t.Errorf("afterwards it is %q", after)
			}
			line := fmt.Sprintf("%s of %s, token %d, requested by \"ann\" in browser 1 at 127.0.0.1:", tt.action, path, stat.Czxid+tt.token)
			if tt.want != 400 && !strings.Contains(e.logged(), line) {
				t.Errorf("not logged: %s", line)
			}
		})
	}
	if text := e.logged(); !strings.Contains(text, ": done") || !strings.Contains(text, ": failed: ") {
		t.Error(text)
	}
	for _, path := range []string{"/", "/zookeeper", "/zookeeper/config"} {
		if r := e.send("POST", "/api/act", fmt.Sprintf(`{"action":"delete","path":%q,"token":"1","who":"ann"}`, path), nil); r.status != 403 {
			t.Errorf("%s: %d", path, r.status)
		}
	}
}
