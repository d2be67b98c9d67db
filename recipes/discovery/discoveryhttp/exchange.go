package discoveryhttp

import (
	"errors"
	"net/http"
)

// maxRepeats is how often a request is repeated that may have been sent before. A request that
// crashes its server must not crash all of them.
const maxRepeats = 2

// exchange is one RoundTrip for a service: attempts until there is a response.
type exchange struct {
	base    http.RoundTripper
	service service
	request *http.Request
	bodies  bodies

	tried   []string // hosts
	repeats int      // of what may have been sent
}

func (e *exchange) run() (*http.Response, error) {
	instance, err := e.service.choose(e.request.URL.Scheme, nil)
	if err != nil {
		closeBody(e.request)
		return nil, err
	}
	e.bodies.request = e.request
	defer e.bodies.release()
	body := e.bodies.first()
	for {
		a := newAttempt(e.request, instance.host, body)
		response, failure := e.base.RoundTrip(a.request)
		if failure == nil {
			response.Request = e.request
			return response, nil
		}
		if ended(e.request) || e.bodies.failed() || !a.byInstance(failure) {
			return nil, failure
		}
		instance.failed()
		e.tried = append(e.tried, instance.host)
		if !a.neverSent(failure) && !e.mayRepeat() {
			return nil, failure
		}
		if instance, err = e.service.choose(e.request.URL.Scheme, e.tried); err != nil {
			return nil, failure // it tells more than that no other instance is left
		}
		var ok bool
		if body, ok, err = e.bodies.again(); !ok {
			return nil, errors.Join(failure, err)
		}
	}
}

// mayRepeat tells whether a request that may have been sent can be repeated, and counts that.
func (e *exchange) mayRepeat() bool {
	e.repeats++
	return e.repeats <= maxRepeats && e.bodies.repeatable() && harmless(e.request)
}

// harmless tells whether net/http repeats the request after it was sent.
func harmless(request *http.Request) bool {
	switch request.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	for _, key := range [...]string{"Idempotency-Key", "X-Idempotency-Key"} {
		if _, ok := request.Header[key]; ok {
			return true
		}
	}
	return false
}

// ended tells whether the caller does not wait any more.
func ended(request *http.Request) bool {
	select {
	case <-request.Context().Done():
		return true
	//lint:ignore SA1019 http.Client ends requests at its Timeout by both, and either may be the first
	case <-request.Cancel:
		return true
	default:
		return false
	}
}
