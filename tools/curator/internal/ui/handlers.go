package ui

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-curator/curator/tools/curator/internal/act"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/ui/follow"
	"github.com/go-curator/curator/tools/curator/internal/ui/model"
)

const (
	maxPart  = 1000 // the maximum number of contenders in one answer
	maxFound = 100
)

// reader answers requests with the data of a Follower.
type reader struct{ follower *follow.Follower }

// recipe answers a request for a recipe with a part of its holders and waiters.
func (q reader) recipe(w http.ResponseWriter, r *http.Request) error {
	from, err := number(r, "from", 0)
	if err != nil {
		return err
	}
	count, err := number(r, "count", 100)
	if err != nil {
		return err
	}
	found, ok := q.follower.Recipe(r.FormValue("path"), from, min(count, maxPart))
	if !ok {
		return refuse(http.StatusNotFound, "There is no recipe at this path.")
	}
	reply(w, http.StatusOK, found)
	return nil
}

// session answers a request for the nodes of a session.
func (q reader) session(w http.ResponseWriter, r *http.Request) error {
	text := r.FormValue("id")
	id, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil {
		return refuse(http.StatusBadRequest, "%q is not the id of a session, such as 0x1000a.", text)
	}
	owned, total := q.follower.Session(int64(id))
	reply(w, http.StatusOK, struct {
		ID    string        `json:"id"`
		Nodes []model.Owned `json:"nodes"`
		Total int           `json:"total"`
	}{model.SessionName(int64(id)), owned, total})
	return nil
}

// search answers a request for the paths that contain a text.
func (q reader) search(w http.ResponseWriter, r *http.Request) error {
	text := r.FormValue("text")
	if text == "" || len(text) > 1000 {
		return refuse(http.StatusBadRequest, "Give a part of a path, of 1000 characters at most.")
	}
	paths, more := q.follower.Search(text, maxFound)
	reply(w, http.StatusOK, struct {
		Paths []string `json:"paths"`
		More  bool     `json:"more"`
	}{paths, more})
	return nil
}

const (
	maxStreams  = 100
	alivePeriod = 2 * time.Second  // the time after which an event alive is sent if there is no other
	slowest     = 10 * time.Second // the time for writing a frame, after which the stream is closed
)

// streams are the open streams of events.
type streams struct {
	follower *follow.Follower
	room     chan struct{} // has an element for each open stream
}

func newStreams(f *follow.Follower) *streams {
	return &streams{f, make(chan struct{}, maxStreams)}
}

// serve sends the whole state and then the changes, until the browser or the server closes the stream. A
// stream has no time limit, but each of its writes has one.
func (s *streams) serve(w http.ResponseWriter, r *http.Request) error {
	select {
	case s.room <- struct{}{}:
		defer func() { <-s.room }()
	default:
		return refuse(http.StatusServiceUnavailable, "Too many pages are open.")
	}
	sub := s.follower.Subscribe()
	defer sub.Close()
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	control := http.NewResponseController(w)
	// The deadline of the server's ReadTimeout would cancel the request.
	if err := control.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	ctx := r.Context()
	for {
		frame, ok, err := sub.Next(ctx, alivePeriod)
		if err != nil {
			return nil // the browser has gone, or the server ends
		}
		if err := send(w, control, frame, ok); err != nil {
			return nil // the browser has gone, or does not read
		}
	}
}

// send writes a frame if there is one, and the time if there is none or it is a whole state. The deadline
// is not cleared afterwards: it is longer than alivePeriod, so the next write replaces it before.
func send(w io.Writer, control *http.ResponseController, frame follow.Frame, ok bool) error {
	if err := control.SetWriteDeadline(time.Now().Add(slowest)); err != nil {
		return err
	}
	if ok {
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", frame.Name, frame.Body); err != nil {
			return err
		}
	}
	if !ok || frame.Name == "state" { // the state, with its time, may be some time old
		if _, err := fmt.Fprintf(w, "event: alive\ndata: {\"now\":%d}\n\n", time.Now().UnixMilli()); err != nil {
			return err
		}
	}
	return control.Flush()
}

// maxAction bounds a request for an action. It is enough for ZooKeeper's maximum of data in base64.
const maxAction = 2 << 20

// actions does the actions that operators request.
type actions struct {
	tree    *tree
	logins  *logins
	allowed bool
	log     func(format string, args ...any)
}

// action is a request for an action.
type action struct {
	Action  string `json:"action"` // "revoke", "break", "delete" or "set"
	Path    string `json:"path"`   // of the node
	Token   string `json:"token"`  // the node's czxid, decimal
	Version int32  `json:"version"`
	Data    string `json:"data"` // base64
	Who     string `json:"who"`  // the operator's name, as the operator has entered it
}

// serve does an action and logs it.
func (a *actions) serve(w http.ResponseWriter, r *http.Request) error {
	if !a.allowed {
		return refuse(http.StatusForbidden, "This page has no actions: curator ui was started without --allow-actions.")
	}
	var wanted action
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAction)).Decode(&wanted); err != nil {
		return refuse(http.StatusBadRequest, "The request cannot be read, or is too long.")
	}
	if !slices.Contains([]string{"revoke", "break", "delete", "set"}, wanted.Action) {
		return refuse(http.StatusBadRequest, "There is no such action.")
	}
	if !isName(wanted.Who) {
		return refuse(http.StatusBadRequest, "Give your name, which is logged: up to 64 printable characters.")
	}
	czxid, err := strconv.ParseInt(wanted.Token, 10, 64)
	if err != nil || czxid <= 0 {
		return refuse(http.StatusBadRequest, "The request has no valid token of a node.")
	}
	if _, err := a.tree.inside(wanted.Path); err != nil {
		return err
	}
	err = a.do(r.Context(), wanted, czxid)
	result := "done"
	if err != nil {
		result = "failed: " + output.Line(err.Error())
	}
	browser, _ := a.logins.of(r)
	a.log("%s of %s, token %s, requested by %q in browser %d at %s: %s",
		wanted.Action, output.Line(wanted.Path), strconv.FormatInt(czxid, 10), wanted.Who, browser.number, r.RemoteAddr, result)
	if err != nil {
		return err
	}
	reply(w, http.StatusOK, struct{}{})
	return nil
}

func (a *actions) do(ctx context.Context, wanted action, czxid int64) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	client, path := a.tree.client, wanted.Path
	switch wanted.Action {
	case "revoke":
		return act.Revoke(ctx, client, path, czxid)
	case "break":
		return act.Break(ctx, client, path, czxid)
	case "delete":
		if path == "/" || path == "/zookeeper" || strings.HasPrefix(path, "/zookeeper/") {
			return refuse(http.StatusForbidden, "%s cannot be deleted on this page.", path)
		}
		return act.Delete(ctx, client, path, czxid, wanted.Version)
	default: // set
		data, err := base64.StdEncoding.DecodeString(wanted.Data)
		if err != nil {
			return refuse(http.StatusBadRequest, "The data is not base64.")
		}
		return act.Set(ctx, client, path, czxid, wanted.Version, data)
	}
}

// isName reports whether a text can be logged as a name.
func isName(text string) bool {
	const most = 64
	notPrintable := func(r rune) bool { return !unicode.IsPrint(r) }
	return strings.TrimSpace(text) != "" && utf8.RuneCountInString(text) <= most && strings.IndexFunc(text, notPrintable) < 0
}
