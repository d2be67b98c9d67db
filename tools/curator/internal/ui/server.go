// Package ui serves a page that shows the locks and other recipes below a node, live, and can
// act on them if this is permitted.
//
// The page itself is served to every client, because it contains no data. Its data needs a
// cookie, which a browser gets for the server's secret. Requests for other hosts, and requests
// from other sites, are refused. A Server on an address that other machines can reach needs
// TLS.
//
// Errors are JSON, {"error": TEXT}. Sizes and numbers of connections are limited. When the
// context of Serve ends, all connections are closed.
package ui

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/tools/curator/internal/ui/follow"
	"github.com/go-curator/curator/tools/curator/internal/ui/page"
)

const (
	maxHeader      = 16 << 10
	maxRequests    = 16  // the maximum number of concurrent requests with a login, without streams
	maxHTTP2       = 128 // the maximum number of concurrent requests of a connection; more than maxStreams
	headerTimeout  = 5 * time.Second
	receiveTimeout = 10 * time.Second // for a request with its body; requests with a login have more
	requestTimeout = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	closeTimeout   = time.Second
)

// Config is the configuration of a Server.
type Config struct {
	follow.Config
	Secret string           // everybody who knows it may see the data, and act if Actions is set
	TLS    *tls.Certificate // if it is nil, there is no TLS, and the listener must be on loopback
	Log    func(format string, args ...any)
}

// Server serves the page. It is safe for concurrent use.
type Server struct {
	cfg      Config
	follower *follow.Follower
	leaf     *x509.Certificate
}

// New returns a server. It does no I/O. It is an error if the secret is empty or the certificate
// cannot be parsed.
func New(cfg Config) (*Server, error) {
	if cfg.Secret == "" {
		return nil, errors.New("the secret is empty")
	}
	s := &Server{cfg: cfg, follower: follow.New(cfg.Config)}
	if cfg.TLS != nil {
		leaf, err := x509.ParseCertificate(cfg.TLS.Certificate[0])
		if err != nil {
			return nil, fmt.Errorf("the certificate cannot be read: %w", err)
		}
		s.leaf = leaf
	}
	return s, nil
}

func (s *Server) scheme() string {
	if s.cfg.TLS != nil {
		return "https"
	}
	return "http"
}

// Serve serves the page until ctx ends, and then returns nil. It closes listener, and joins all its
// goroutines.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	address := listener.Addr().String()
	listener = &limited{Listener: listener}
	if s.cfg.TLS != nil {
		listener = tls.NewListener(listener, &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*s.cfg.TLS}, NextProtos: []string{"h2", "http/1.1"},
		})
	}
	server := &http.Server{
		Handler:           s.handler(address),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withConnection,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       receiveTimeout, // streams have none, and their writes have their own
		WriteTimeout:      requestTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxHTTP2},
		ErrorLog:          log.New(errorLog(s.cfg.Log), "", 0),
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.follower.Run(ctx) })
	wg.Go(func() {
		<-ctx.Done() // the end of ctx also ends the streams
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			_ = server.Close() // some browser does not read
		}
	})
	err := server.Serve(listener)
	cancel()
	wg.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// errorLog logs what package http reports, but not failed TLS handshakes, because everybody who can
// connect could fill the log with them.
type errorLog func(format string, args ...any)

// Write logs a line.
func (l errorLog) Write(line []byte) (int, error) {
	if text := strings.TrimSpace(string(line)); !strings.Contains(text, "TLS handshake error") {
		l("the page's server: %s", text)
	}
	return len(line), nil
}

// handler returns the handler of all requests for a server at an address.
func (s *Server) handler(address string) http.Handler {
	_, port, _ := net.SplitHostPort(address)
	logins := newLogins(s.cfg.Secret, port, s.cfg.TLS != nil)
	tree := &tree{client: s.cfg.Client, follower: s.follower, root: s.cfg.Root}
	acts := &actions{tree: tree, logins: logins, allowed: s.cfg.Actions, log: s.cfg.Log}
	reads := reader{s.follower}
	room := make(chan struct{}, maxRequests)

	mux := http.NewServeMux()
	closed := func(pattern string, h handler) { mux.Handle(pattern, logins.needed(bounded(room, h))) }
	mux.Handle("POST /api/login", handler(logins.enter))
	mux.Handle("POST /api/logout", handler(logins.leave))
	mux.Handle("GET /api/events", logins.needed(handler(newStreams(s.follower).serve)))
	closed("GET /api/recipe", reads.recipe)
	closed("GET /api/session", reads.session)
	closed("GET /api/search", reads.search)
	closed("GET /api/node", tree.node)
	closed("POST /api/act", acts.serve)
	mux.Handle("GET /", page.Handler())
	return &guard{next: mux, scheme: s.scheme(), hosts: hostsOf(address, s.scheme()), cert: s.leaf}
}

// bounded limits the number of concurrent requests to the size of room. Further requests wait. Each
// request has a time limit, and so has the wait.
func bounded(room chan struct{}, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		extend := func(limit time.Duration) error {
			until := time.Now().Add(limit)
			return errors.Join(control.SetReadDeadline(until), control.SetWriteDeadline(until))
		}
		if err := extend(2 * requestTimeout); err != nil { // while it waits the request must not be cancelled
			fail(w, err)
			return
		}
		wait := time.NewTimer(requestTimeout)
		defer wait.Stop()
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		case <-wait.C:
			fail(w, refuse(http.StatusServiceUnavailable, "There are too many requests."))
			return
		case <-r.Context().Done():
			return
		}
		if err := extend(requestTimeout); err != nil {
			fail(w, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}
