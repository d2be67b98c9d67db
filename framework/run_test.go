package framework_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// component notes what is called, and fails as often as it is told to.
type component struct {
	name     string
	log      *[]string
	fail     []error // of the first Starts
	closeErr error
}

func (c *component) Start(context.Context) error {
	*c.log = append(*c.log, "start "+c.name)
	if len(c.fail) == 0 {
		return nil
	}
	err := c.fail[0]
	c.fail = c.fail[1:]
	return err
}

func (c *component) Close(context.Context) error {
	*c.log = append(*c.log, "close "+c.name)
	return c.closeErr
}

func TestRun(t *testing.T) {
	var (
		lost  = fmt.Errorf("cache /a: %w", framework.ErrConnectionLoss)
		other = errors.New("other")
		why   = errors.New("not closed")
	)
	for _, c := range []struct {
		name  string
		a, b  component
		want  string
		err   error
		lives bool // Run goes on until ctx ends
	}{
		{name: "in order", want: "start a, start b, close b, close a", lives: true},
		{name: "no connection", b: component{fail: []error{lost, lost}}, lives: true,
			want: "start a, start b, start b, start b, close b, close a"},
		{name: "refused", b: component{fail: []error{other}}, want: "start a, start b, close a", err: other},
		{name: "refused, not closed", a: component{closeErr: why}, b: component{fail: []error{framework.ErrNoAuth}},
			want: "start a, start b, close a", err: why},
		{name: "not closed", b: component{closeErr: why}, want: "start a, start b, close b, close a", err: why, lives: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log []string
				c.a.name, c.a.log, c.b.name, c.b.log = "a", &log, "b", &log
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				err := framework.Run(ctx, &c.a, &c.b)
				if !errors.Is(err, c.err) || c.err == nil && err != nil {
					t.Errorf("error %v, want %v", err, c.err)
				}
				if got := strings.Join(log, ", "); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
				if c.lives != (ctx.Err() != nil) {
					t.Errorf("ctx is %v when Run returns", ctx.Err())
				}
			})
		})
	}
}

// A program may come up before its ensemble, and go down again without having seen it.
func TestRunBeforeTheEnsemble(t *testing.T) {
	for name, comes := range map[string]bool{"it comes": true, "it does not come": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := curatortest.Start(t, curatortest.Virtual())
				client := server.Client(t)
				accept := server.Refuse()
				server.Disconnect()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var log []string
				ended := make(chan error)
				go func() { ended <- framework.Run(ctx, reader{client, &component{name: "a", log: &log}}) }()
				time.Sleep(time.Minute)
				if comes {
					accept()
					time.Sleep(time.Minute)
				}
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if got := strings.Join(log, ", "); comes && got != "start a, close a" || !comes && got != "" {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// reader is a component that needs an answer of the server to start.
type reader struct {
	client *framework.Client
	*component
}

func (r reader) Start(ctx context.Context) error {
	if _, err := r.client.CheckExists().ForPath(ctx, "/"); err != nil {
		return err
	}
	return r.component.Start(ctx)
}

func TestRunRefuses(t *testing.T) {
	var (
		log  []string
		none context.Context
	)
	for name, run := range map[string]func() error{
		"nil component": func() error { return framework.Run(t.Context(), &component{name: "a", log: &log}, nil) },
		"nil context":   func() error { return framework.Run(none, &component{name: "a", log: &log}) },
	} {
		if err := run(); !errors.Is(err, framework.ErrInvalidOption) || len(log) > 0 {
			t.Errorf("%s: error %v, calls %v", name, err, log)
		}
	}
}

func TestRunClosesWhatItStartedWhenAStartPanics(t *testing.T) {
	var log []string
	defer func() {
		if got := strings.Join(log, ", "); recover() == nil || got != "start a, close a" {
			t.Errorf("got %s", got)
		}
	}()
	_ = framework.Run(t.Context(), &component{name: "a", log: &log}, panicking{})
}

type panicking struct{}

func (panicking) Start(context.Context) error { panic("start") }
func (panicking) Close(context.Context) error { return nil }
