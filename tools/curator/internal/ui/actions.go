package ui

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-curator/curator/tools/curator/internal/act"
	"github.com/go-curator/curator/tools/curator/internal/output"
)

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
