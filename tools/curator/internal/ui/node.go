package ui

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/ui/follow"
	"github.com/go-curator/curator/tools/curator/internal/ui/model"
)

const (
	readTimeout = 3 * time.Second
	headSize    = 64 << 10 // the length of the first part of data
	maxChildren = 200      // the maximum number of children in one answer
)

// tree answers requests for nodes. It reads only root and the nodes below it.
type tree struct {
	client   *framework.Client
	follower *follow.Follower
	root     string
}

// nodeStat is the Stat of a node. Numbers that JavaScript cannot represent are text.
type nodeStat struct {
	Czxid       string `json:"czxid"`
	Mzxid       string `json:"mzxid"`
	Pzxid       string `json:"pzxid"`
	Token       string `json:"token"` // czxid, decimal
	Created     int64  `json:"created"`
	Modified    int64  `json:"modified"`
	Version     int32  `json:"version"`
	Cversion    int32  `json:"cversion"`
	Aversion    int32  `json:"aversion"`
	Session     string `json:"session"`
	DataLength  int32  `json:"dataLength"`
	NumChildren int32  `json:"numChildren"`
}

type childNode struct {
	Name    string `json:"name"`
	Size    int32  `json:"size"`
	Session string `json:"session"`
}

type aclEntry struct {
	Scheme string `json:"scheme"`
	ID     string `json:"id"`
	Perms  string `json:"perms"`
}

// nodeAnswer has everything about a node. If a part cannot be read it is missing, and Problem says
// why.
type nodeAnswer struct {
	Path     string      `json:"path"`
	Stat     *nodeStat   `json:"stat"`
	Data     *string     `json:"data"` // base64; only the first part unless the request has all
	ACL      []aclEntry  `json:"acl"`
	Children []childNode `json:"children"`
	Total    int         `json:"total"` // the number of children that match
	From     int         `json:"from"`
	Problem  string      `json:"problem,omitempty"`
}

// inside returns path if it is the root or below it, otherwise an error.
func (t *tree) inside(path string) (string, error) {
	if !strings.HasPrefix(path, "/") { // framework.Client refuses other invalid paths
		return "", refuse(http.StatusBadRequest, "%q is not a path.", path)
	}
	if t.root != "/" && path != t.root && !strings.HasPrefix(path, t.root+"/") {
		return "", refuse(http.StatusForbidden, "The page shows only %s and the nodes below it.", t.root)
	}
	return path, nil
}

// node answers a request for a node.
func (t *tree) node(w http.ResponseWriter, r *http.Request) error {
	path, err := t.inside(r.FormValue("path"))
	if err != nil {
		return err
	}
	from, err := number(r, "from", 0)
	if err != nil {
		return err
	}
	a := &nodeAnswer{Path: path, From: from, Children: []childNode{}, ACL: []aclEntry{}}
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	if err := t.read(ctx, a, r.FormValue("all") != ""); err != nil {
		return err
	}
	t.list(a, strings.ToLower(r.FormValue("find")))
	reply(w, http.StatusOK, a)
	return nil
}

// read reads data, Stat and ACL.
func (t *tree) read(ctx context.Context, a *nodeAnswer, all bool) error {
	var stat framework.Stat
	data, err := t.client.GetData().Undecompressed().StoringStatIn(&stat).ForPath(ctx, a.Path)
	switch {
	case err == nil:
		a.setData(data, all)
	case errors.Is(err, framework.ErrNoNode):
		return err
	case errors.Is(err, framework.ErrNoAuth):
		a.Problem = "The data may not be read with these credentials."
		_, err := t.client.CheckExists().StoringStatIn(&stat).ForPath(ctx, a.Path)
		if err != nil && !errors.Is(err, framework.ErrNoAuth) { // newer servers show no Stat either
			return err
		}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, framework.ErrConnectionLoss), errors.Is(err, framework.ErrSessionExpired):
		a.Problem = "The ensemble does not answer. The children may not be up to date."
		return nil
	default:
		return err
	}
	if stat.Ctime != (time.Time{}) {
		a.Stat = newNodeStat(stat)
	}
	acl, err := t.client.GetACL().ForPath(ctx, a.Path)
	if err != nil {
		a.Problem = strings.TrimSpace(a.Problem + " The ACL cannot be read: " + err.Error())
		return nil //nolint:nilerr // the error is shown
	}
	for _, entry := range acl {
		a.ACL = append(a.ACL, aclEntry{entry.Scheme, publicID(entry), entry.Perms.String()})
	}
	return nil
}

// publicID returns the id of an ACL's entry without the hash of a password. With the hash a weak
// password could be found.
func publicID(acl framework.ACL) string {
	if user, _, found := strings.Cut(acl.ID, ":"); found && acl.Scheme == "digest" {
		return user + ":…"
	}
	return acl.ID
}

func (a *nodeAnswer) setData(data []byte, all bool) {
	head := data
	if !all && len(head) > headSize {
		head = head[:headSize]
	}
	text := base64.StdEncoding.EncodeToString(head)
	a.Data = &text // the page indents what is JSON
}

func newNodeStat(s framework.Stat) *nodeStat {
	hex := func(n int64) string { return "0x" + strconv.FormatUint(uint64(n), 16) }
	return &nodeStat{
		Czxid: hex(s.Czxid), Mzxid: hex(s.Mzxid), Pzxid: hex(s.Pzxid), Token: strconv.FormatInt(s.Czxid, 10),
		Created: s.Ctime.UnixMilli(), Modified: s.Mtime.UnixMilli(), Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion,
		Session: model.SessionName(s.EphemeralOwner), DataLength: s.DataLength, NumChildren: s.NumChildren,
	}
}

// list adds the children whose names contain a text, from number a.From on.
func (t *tree) list(a *nodeAnswer, find string) {
	for name, child := range t.follower.Children(a.Path) {
		if find != "" && !strings.Contains(strings.ToLower(name), find) {
			continue
		}
		a.Total++
		if a.Total > a.From && len(a.Children) < maxChildren {
			a.Children = append(a.Children, childNode{name, child.Stat.DataLength, model.SessionName(child.Stat.EphemeralOwner)})
		}
	}
}
