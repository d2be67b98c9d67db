package ui_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/ui"
	"github.com/go-curator/curator/tools/curatortest"
)

// attempt is a request, and the status of its response. change is the argument of send.
type attempt struct {
	method, path, body string
	change             map[string]string
	want               int
}

// attempts returns requests to the page at an address, from a browser with a cookie.
func attempts(address, cookie string) map[string]attempt {
	_, port, _ := net.SplitHostPort(address)
	name, _, _ := strings.Cut(cookie, "=")
	login := `{"secret": "` + secret + `"}`
	return map[string]attempt{
		"the page":                        {"GET", "/", "", nil, 200},
		"the page, by its address":        {"GET", "/", "", map[string]string{"Sec-Fetch-Site": "none"}, 200},
		"the page, by a link":             {"GET", "/", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200},
		"the page in a frame":             {"GET", "/", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403},
		"the code for another site":       {"GET", "/app.js", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		"no such file":                    {"GET", "/nothing", "", nil, 404},
		"a file outside of the page":      {"GET", "/../page.go", "", nil, 404},
		"another name of loopback":        {"GET", "/api/search?text=x", "", map[string]string{"Host": "localhost:" + port}, 200},
		"a question":                      {"GET", "/api/search?text=x", "", nil, 200},
		"an old browser":                  {"GET", "/api/search?text=x", "", map[string]string{"Sec-Fetch-Site": ""}, 200},
		"without a cookie":                {"GET", "/api/search?text=x", "", map[string]string{"Cookie": ""}, 401},
		"a stream without a cookie":       {"GET", "/api/events", "", map[string]string{"Cookie": ""}, 401},
		"an action without a cookie":      {"POST", "/api/act", "{}", map[string]string{"Cookie": ""}, 401},
		"with a wrong cookie":             {"GET", "/api/node?path=/", "", map[string]string{"Cookie": name + "=x"}, 401},
		"with the secret as a cookie":     {"GET", "/api/node?path=/", "", map[string]string{"Cookie": name + "=" + secret}, 401},
		"another host":                    {"GET", "/", "", map[string]string{"Host": "evil.example:" + port}, 421},
		"another host, a question":        {"GET", "/api/search?text=x", "", map[string]string{"Host": "evil.example:" + port}, 421},
		"another port":                    {"GET", "/", "", map[string]string{"Host": "127.0.0.1:1"}, 421},
		"another origin":                  {"GET", "/api/search?text=x", "", map[string]string{"Origin": "http://evil.example"}, 403},
		"the origin null":                 {"GET", "/api/search?text=x", "", map[string]string{"Origin": "null"}, 403},
		"the origin of another port":      {"GET", "/api/search?text=x", "", map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		"the origin with another scheme":  {"GET", "/api/search?text=x", "", map[string]string{"Origin": "https://" + address}, 403},
		"from another site":               {"GET", "/api/search?text=x", "", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"from another port":               {"GET", "/api/search?text=x", "", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		"by a link":                       {"GET", "/api/node?path=/", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 403},
		"a login from another site":       {"POST", "/api/login", login, map[string]string{"Origin": "http://evil.example"}, 403},
		"a login without an origin":       {"POST", "/api/login", login, map[string]string{"Origin": ""}, 403},
		"a login by a form":               {"POST", "/api/login", login, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		"a login by a form of text":       {"POST", "/api/login", login, map[string]string{"Content-Type": "text/plain"}, 415},
		"a login with GET":                {"GET", "/api/login", "", nil, 404},
		"a login with a wrong secret":     {"POST", "/api/login", `{"secret": "x"}`, nil, 401},
		"a login with no secret":          {"POST", "/api/login", `{}`, nil, 401},
		"a login that is no JSON":         {"POST", "/api/login", `secret`, nil, 400},
		"a login that is long":            {"POST", "/api/login", `{"secret": "` + strings.Repeat("x", 5<<10) + `"}`, nil, 400},
		"an action from another site":     {"POST", "/api/act", "{}", map[string]string{"Origin": "http://evil.example"}, 403},
		"an action without an origin":     {"POST", "/api/act", "{}", map[string]string{"Origin": ""}, 403},
		"an action, which is not allowed": {"POST", "/api/act", `{"action":"delete","path":"/x","token":"1","who":"me"}`, nil, 403},
		"an action with GET":              {"GET", "/api/act", "", nil, 404},
		"another method":                  {"PUT", "/api/act", "{}", map[string]string{"Origin": "http://" + address, "Content-Type": "application/json"}, 405},
		"a path that is none":             {"GET", "/api/node?path=x", "", nil, 400},
		"a path with ..":                  {"GET", "/api/node?path=/a/../b", "", nil, 400},
		"a node that is not there":        {"GET", "/api/node?path=/x", "", nil, 404},
		"a recipe that is not there":      {"GET", "/api/recipe?path=/x", "", nil, 404},
		"a number that is none":           {"GET", "/api/recipe?path=/x&from=-1", "", nil, 400},
		"a session that is none":          {"GET", "/api/session?id=x", "", nil, 400},
		"a search for nothing":            {"GET", "/api/search", "", nil, 400},
	}
}

// TestRequests checks which requests are permitted.
func TestRequests(t *testing.T) {
	e := newEnv(t, nil)
	e.login()
	for name, tt := range attempts(e.address, e.cookie) {
		t.Run(name, func(t *testing.T) {
			r := e.send(tt.method, tt.path, tt.body, tt.change)
			if r.status != tt.want {
				t.Errorf("status %d, want %d: %s", r.status, tt.want, r.body)
			}
			for header, part := range map[string]string{
				"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';", "X-Content-Type-Options": "nosniff",
				"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
			} {
				if !strings.Contains(r.header.Get(header), part) {
					t.Errorf("%s is %q", header, r.header.Get(header))
				}
			}
			for header := range r.header {
				if strings.HasPrefix(header, "Access-Control-") {
					t.Errorf("there is %s", header)
				}
			}
			if strings.Contains(r.body, secret) {
				t.Error("the secret is in the answer")
			}
		})
	}
	if _, err := e.client.CheckExists().ForPath(t.Context(), "/x"); err != nil {
		t.Fatal(err)
	}
}

// TestCookie checks the cookie that a browser gets for the secret.
func TestCookie(t *testing.T) {
	e := newEnv(t, nil)
	e.login()
	c := e.send("POST", "/api/login", `{"secret": "`+secret+`"}`, nil).cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || len(c.Value) < 32 || strings.Contains(e.cookie, c.Value) {
		t.Errorf("%+v", c)
	}
	if r := e.send("POST", "/api/logout", "", nil); r.status != 200 || r.cookies[0].MaxAge >= 0 {
		t.Errorf("%+v", r)
	}
	if r := e.send("GET", "/api/search?text=x", "", nil); r.status != 401 {
		t.Errorf("after signing out: %d", r.status)
	}
}

// After too many wrong secrets an address must wait.
func TestGuesses(t *testing.T) {
	e := newEnv(t, nil)
	answers := make(chan int, 40)
	for i := range cap(answers) { // all at once
		go func() { answers <- e.send("POST", "/api/login", fmt.Sprintf(`{"secret": "%d"}`, i), nil).status }()
	}
	got := map[int]int{}
	for range cap(answers) {
		got[<-answers]++
	}
	if got[http.StatusUnauthorized] != 10 || got[http.StatusTooManyRequests] != 30 {
		t.Errorf("the guesses were answered with %v", got)
	}
	if r := e.send("POST", "/api/login", `{"secret": "`+secret+`"}`, nil); r.status != http.StatusTooManyRequests {
		t.Errorf("then: %d", r.status)
	}
}

// Nodes that are not below the root are not shown.
func TestRoot(t *testing.T) {
	e := newEnv(t, func(cfg *ui.Config) { cfg.Root = "/app"; cfg.Actions = true })
	e.login()
	e.create("/app/x", "inside", framework.Persistent)
	e.create("/application/x", "outside", framework.Persistent)
	e.events().until(func(f frame) bool { return f.Loaded && f.Nodes == 2 })
	for path, want := range map[string]int{"/app": 200, "/app/x": 200, "/application/x": 403, "/": 403, "/app/../application/x": 400, "/app/": 400} {
		if r := e.send("GET", "/api/node?path="+path, "", nil); r.status != want || strings.Contains(r.body, "b3V0c2lkZQ") {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	body := `{"action":"delete","path":"/application/x","token":"1","who":"me"}`
	if r := e.send("POST", "/api/act", body, nil); r.status != 403 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// Neither the credentials of the page's own connection nor the hashes of passwords in ACLs are shown.
func TestCredentials(t *testing.T) {
	t.Run("with a Stat", func(t *testing.T) { testCredentials(newEnv(t, nil), `"stat":{`) })
	t.Run("exists needs read", func(t *testing.T) { testCredentials(newEnv(t, nil, curatortest.WithRelease("3.9.5")), `"stat":null`) })
}

// testCredentials wants the answer for a node that may not be read to have a part.
func testCredentials(e *env, part string) {
	const password = "swordfish"
	t := e.t
	e.login()
	owner := e.server.Client(t, framework.WithAuthorization("digest", []byte("ops:"+password)))
	acl := framework.ACL{Perms: framework.PermRead, Scheme: "world", ID: "anyone"}
	_, err := owner.Create().WithACL(append(framework.CreatorAllACL(), acl)...).ForPath(t.Context(), "/secured")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := owner.Create().WithACL(framework.CreatorAllACL()...).WithData([]byte(password)).ForPath(t.Context(), "/secured/closed"); err != nil {
		t.Fatal(err)
	}
	s := e.events()
	s.loaded()
	var all strings.Builder
	for _, path := range []string{"/api/node?path=/secured", "/api/node?path=/secured/closed"} {
		all.WriteString(e.send("GET", path, "", nil).body)
	}
	text := all.String()
	if !strings.Contains(text, `"id":"ops:…"`) || !strings.Contains(text, "may not be read") {
		t.Error(text)
	}
	if closed := e.send("GET", "/api/node?path=/secured/closed", "", nil); closed.status != 200 || !strings.Contains(closed.body, part) {
		t.Errorf("%d %s", closed.status, closed.body)
	}
	list, err := owner.GetACL().ForPath(t.Context(), "/secured")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		if _, hash, found := strings.Cut(entry.ID, ":"); found && strings.Contains(text, hash) {
			t.Error("the hash of a password is shown")
		}
	}
}
