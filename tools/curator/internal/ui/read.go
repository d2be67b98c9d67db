package ui

import (
	"net/http"
	"strconv"
	"strings"

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

// number returns a parameter that is a number of 0 or more, or otherwise if it is missing.
func number(r *http.Request, name string, otherwise int) (int, error) {
	text := r.FormValue(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, refuse(http.StatusBadRequest, "%s is not a number of 0 or more.", name)
	}
	return n, nil
}
