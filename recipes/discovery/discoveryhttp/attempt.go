package discoveryhttp

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// attempt is a request to one instance, and what the base transport tells of it. The hooks of a
// trace may be called when the attempt is over, by goroutines of the base transport.
type attempt struct {
	request   *http.Request
	begun     atomic.Bool // a connection to the instance was asked for
	connected atomic.Bool // there was one to be sent on
	refused   atomic.Bool // a TLS handshake failed
}

func newAttempt(request *http.Request, host string, body io.ReadCloser) *attempt {
	a := new(attempt)
	ctx := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{
		GetConn: func(string) { a.begun.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { a.connected.Store(true) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err != nil {
				a.refused.Store(true)
			}
		},
	})
	a.request = request.WithContext(ctx)
	u := *request.URL
	u.Host = host
	a.request.URL = &u
	a.request.Body = body
	if a.request.Host == "" {
		a.request.Host = request.URL.Host
	}
	return a
}

// byInstance tells whether err is about the instance: not about a request that the base transport
// refuses to send to anybody.
func (a *attempt) byInstance(err error) bool { return a.begun.Load() || isDial(err) }

// neverSent tells whether no byte of the request was sent before err.
func (a *attempt) neverSent(err error) bool {
	// If net/http dialed after an earlier try, that one was not sent either, or was harmless. A
	// handshake may fail beside a request that goes out on a connection that came free.
	return isDial(err) || a.refused.Load() && !a.connected.Load()
}

func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
