package discoveryhttp

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// maxAttempts is how many instances a request is sent to. More would make a request of which every
// attempt fails cost its caller, and the network, as much as there are instances.
const maxAttempts = 10

// maxRepeats is how often a request is repeated that may have been sent before. A request that
// crashes its server must not crash all of them.
const maxRepeats = 2

// exchange is one RoundTrip for a service: attempts until there is a response.
type exchange struct {
	base    http.RoundTripper
	service service
	request *http.Request
	bodies  bodies

	begun   time.Time
	tried   []string // hosts
	repeats int      // of what may have been sent
}

func (e *exchange) run() (*http.Response, error) {
	instance, err := e.service.choose(e.request.URL.Scheme, nil)
	if err != nil {
		closeBody(e.request)
		return nil, err
	}
	e.begun, e.bodies.request = time.Now(), e.request
	defer e.bodies.release()
	body := e.bodies.first()
	for {
		began, a := time.Now(), newAttempt(e.request, instance.host, body)
		response, failure := e.base.RoundTrip(a.request)
		if failure == nil {
			response.Request = e.request
			return response, nil
		}
		over, late := ended(e.request)
		if e.bodies.failed() || !a.byInstance(failure) || over && !(late && e.hadTime(began) && !e.bodies.awaited()) {
			return nil, failure
		}
		instance.failed()
		e.tried = append(e.tried, instance.host)
		if over || len(e.tried) == maxAttempts {
			return nil, failure
		}
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

// hadTime tells whether an attempt that ran until the deadline of the request had at least half of
// the request's time. Another attempt cannot be blamed: it may only have come late.
func (e *exchange) hadTime(began time.Time) bool {
	deadline, _ := e.request.Context().Deadline()
	return deadline.After(began) && 2*deadline.Sub(began) >= deadline.Sub(e.begun)
}

// ended tells whether the caller does not wait any more, and whether that is for the deadline of the
// request. The clock is asked, because the context may not have ended yet when its deadline has
// passed: http.Client closes Cancel at its Timeout, and dialers have timers of their own.
func ended(request *http.Request) (over, late bool) {
	ctx := request.Context()
	deadline, ok := ctx.Deadline()
	if ok && !time.Now().Before(deadline) {
		return true, !errors.Is(ctx.Err(), context.Canceled)
	}
	select {
	case <-ctx.Done():
		return true, false
	//lint:ignore SA1019 http.Client ends requests at its Timeout by both, and either may be the first
	case <-request.Cancel:
		return true, false
	default:
		return false, false
	}
}
