package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/act"
)

// refusal is an error with the HTTP status of the response.
type refusal struct {
	status int
	text   string
}

// Error returns the text.
func (r *refusal) Error() string { return r.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// reply answers with v as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error": "the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // it fails if the browser has gone
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	var known *refusal
	status, text := http.StatusInternalServerError, err.Error()
	switch {
	case errors.As(err, &known):
		status = known.status
	case errors.Is(err, act.ErrAnother):
		status, text = http.StatusConflict, "Nothing was done: the node was deleted, or is another one now. Look again."
	case errors.Is(err, framework.ErrBadVersion):
		status, text = http.StatusConflict, "Nothing was done: the node has changed meanwhile. Look at it again."
	case errors.Is(err, framework.ErrNotEmpty):
		status, text = http.StatusConflict, "Nothing was done: the node has children."
	case errors.Is(err, framework.ErrNoNode):
		status, text = http.StatusNotFound, "There is no such node."
	case errors.Is(err, framework.ErrNoAuth):
		status, text = http.StatusForbidden, "The node's ACL does not permit it."
	case errors.Is(err, framework.ErrInvalidPath):
		status = http.StatusBadRequest
	case errors.Is(err, framework.ErrNotReadOnly):
		status, text = http.StatusServiceUnavailable, "The server has no quorum, and serves reads only."
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, framework.ErrConnectionLoss), errors.Is(err, framework.ErrSessionExpired):
		status, text = http.StatusServiceUnavailable, "The ensemble does not answer."
	}
	reply(w, status, map[string]string{"error": text})
}

// handler answers a request, or returns an error, with which ServeHTTP answers.
type handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP answers a request.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h(w, r); err != nil {
		fail(w, err)
	}
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
