package ui_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/ui"
	"github.com/go-curator/curator/tools/curator/internal/ui/follow"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "the secret of the tests"

// patience bounds every wait.
const patience = 10 * time.Second

// env is a ZooKeeper server, a client of it, and the page.
type env struct {
	t       *testing.T
	server  *curatortest.Server
	client  *framework.Client // not the page's client
	address string            // host:port
	cookie  string
	stop    func()

	mu  sync.Mutex
	log []string
}

// newEnv starts a server and the page. change modifies the configuration of the page.
func newEnv(t *testing.T, change func(cfg *ui.Config), opts ...curatortest.Option) *env {
	t.Helper()
	e := &env{t: t, server: curatortest.Start(t, append(opts, curatortest.WithTickTime(200*time.Millisecond))...)}
	e.client = e.server.Client(t, framework.WithOwnerLabel("orders-api"))
	cfg := ui.Config{
		Config: follow.Config{
			Client: e.server.Client(t), Root: "/", Servers: []string{e.server.ConnectString()},
			Dial: func(ctx context.Context, address string) (net.Conn, error) {
				return e.server.DialContext(ctx, "tcp", address)
			},
		},
		Secret: secret, Log: e.note,
	}
	if change != nil {
		change(&cfg)
	}
	server, err := ui.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.address = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := server.Serve(ctx, listener); err != nil {
			t.Errorf("the server of the page: %v", err)
		}
	})
	e.stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
		http.DefaultClient.CloseIdleConnections()
	})
	t.Cleanup(e.stop)
	return e
}

func (e *env) note(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log = append(e.log, fmt.Sprintf(format, args...))
}

// logged returns the log of the page's server.
func (e *env) logged() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.log, "\n")
}

// login signs in.
func (e *env) login() {
	e.t.Helper()
	response := e.send("POST", "/api/login", `{"secret": "`+secret+`"}`, nil)
	if response.status != http.StatusOK || len(response.cookies) != 1 {
		e.t.Fatalf("%+v", response)
	}
	c := response.cookies[0]
	e.cookie = c.Name + "=" + c.Value
}

// response is the response to a request.
type response struct {
	status  int
	header  http.Header
	body    string
	cookies []*http.Cookie
}

// send makes a request as the page would. The headers in change replace the page's headers; "" removes
// one.
func (e *env) send(method, path, body string, change map[string]string) response {
	e.t.Helper()
	request, err := http.NewRequestWithContext(e.t.Context(), method, "http://"+e.address+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	headers := map[string]string{"Sec-Fetch-Site": "same-origin", "Cookie": e.cookie}
	if method == http.MethodPost {
		headers["Origin"], headers["Content-Type"] = "http://"+e.address, "application/json"
	}
	maps.Copy(headers, change)
	for name, value := range headers {
		if name == "Host" {
			request.Host = value
		} else if value != "" {
			request.Header.Set(name, value)
		}
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return response{answer.StatusCode, answer.Header, string(text), answer.Cookies()}
}

// get makes a GET request, and decodes the answer.
func get[T any](e *env, path string) (value T) {
	e.t.Helper()
	r := e.send("GET", path, "", nil)
	if r.status != http.StatusOK {
		e.t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), &value); err != nil {
		e.t.Fatal(err)
	}
	return value
}

// create creates a node, and its parents.
func (e *env) create(path, data string, mode framework.CreateMode) string {
	e.t.Helper()
	create := e.client.Create().CreatingParentsIfNeeded()
	if mode == framework.Persistent || mode == framework.Ephemeral {
		create = create.Idempotent() // the client may not know yet that its connection has ended
	}
	made, err := create.WithMode(mode).WithData([]byte(data)).ForPath(e.t.Context(), path)
	if err != nil {
		e.t.Fatal(err)
	}
	return made
}

// stream is an open stream of events.
type stream struct {
	e      *env
	lines  *bufio.Reader
	closed func()
}

// frame has some fields of an event's data.
type frame struct {
	name     string
	Number   int
	Loaded   bool
	Stale    int64
	Why      string
	Nodes    int
	Recipes  []recipe
	Gone     []string
	History  []struct{ Name, Next, Path string }
	Ensemble *struct {
		Healthy  bool
		Problems []string
		Figures  []struct{ Sessions, Watches int }
	}
}

type recipe struct {
	Path, Kind, Problem string
	Holding, Waiting    int
	Holders             []contender
	Waiters             []contender
}

type contender struct{ Node, Name, Token, Session string }

// events opens a stream.
func (e *env) events() *stream {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.address+"/api/events", nil)
	if err != nil {
		e.t.Fatal(err)
	}
	request.Header.Set("Cookie", e.cookie)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	s := &stream{e, bufio.NewReaderSize(answer.Body, 1<<20), sync.OnceFunc(func() {
		cancel()
		answer.Body.Close()
	})}
	e.t.Cleanup(s.closed)
	if answer.StatusCode != http.StatusOK {
		e.t.Fatal(answer.Status)
	}
	return s
}

// next returns the next event.
func (s *stream) next() (f frame, err error) {
	timer := time.AfterFunc(patience, s.closed)
	defer timer.Stop()
	for {
		line, err := s.lines.ReadBytes('\n')
		if err != nil {
			return f, err
		}
		line = bytes.TrimSpace(line)
		if name, found := bytes.CutPrefix(line, []byte("event: ")); found {
			f.name = string(name)
		}
		if body, found := bytes.CutPrefix(line, []byte("data: ")); found {
			err := json.Unmarshal(body, &f)
			return f, err
		}
	}
}

// until returns the first event for which wanted is true.
func (s *stream) until(wanted func(f frame) bool) frame {
	s.e.t.Helper()
	for {
		f, err := s.next()
		if err != nil {
			s.e.t.Fatalf("the stream ended: %v", err)
		}
		if wanted(f) {
			return f
		}
	}
}

// recipeAt waits for an event with a recipe at path for which wanted is true.
func (s *stream) recipeAt(path string, wanted func(r recipe) bool) (found recipe) {
	s.e.t.Helper()
	s.until(func(f frame) bool {
		for _, r := range f.Recipes {
			if r.Path == path && wanted(r) {
				found = r
				return true
			}
		}
		return false
	})
	return found
}

// loaded waits until the tree was read.
func (s *stream) loaded() frame {
	s.e.t.Helper()
	return s.until(func(f frame) bool { return f.Loaded })
}
