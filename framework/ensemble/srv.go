// Package ensemble looks up the servers of an ensemble. It has providers for
// framework.WithEnsembleProvider.
//
// An [SRVProvider] reads SRV records of DNS. DNS does not guarantee that the named servers are
// one ensemble, that they run, or that they are all of its servers.
//
// DNS is not authenticated. With framework.WithTLS a server's certificate is verified against
// the target of its record, which is also a name from DNS. If an attacker could answer DNS
// queries, set RootCAs to an authority that certifies only your servers, or set ServerName.
//
// Everything is safe for concurrent use. A provider belongs to one client, which starts and
// closes it.
//
// The context of Start bounds Start. Later look-ups continue until Close, which joins their
// goroutine.
//
// The counterpart in Java is org.apache.curator.ensemble. Curator has no provider of SRV
// records. Its FixedEnsembleProvider is the connect string of framework.NewClient.
package ensemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/wait"
)

// ErrNoServers is returned by Start if DNS has answered, but named no server: the name does not
// exist, it has no SRV records, or none of them names a server. Otherwise Start returns the
// resolver's error.
var ErrNoServers = errors.New("DNS names no server")

// lookupTimeout bounds a look-up.
const lookupTimeout = 10 * time.Second

// SRVProvider is a framework.EnsembleProvider that takes the servers from the SRV records of
// a DNS name. It reads them at Start, after every loss of the connection, every 3 s while
// there is no connection, and every 30 s (WithInterval).
//
// ConnectString returns the last answer and starts a look-up. The client uses the new result if
// it still has no connection then. A working connection is not ended when its server is no
// longer in the records, because a record that is missing for a moment would then cost locks.
// The new records are used when that connection is lost.
//
// A look-up that fails, or whose answer names no server, changes nothing: the last servers
// stay. That is logged.
//
// # Use of a record
//
// The target, without the dot at its end, and the port become host:port. Each address of a
// target counts as a server; see framework.WithResolver. A record with the target "." or the
// port 0 is left out. The connect string has the lowest priority first, and within it the
// highest weight first. This order is only for people, because a client tries its servers in
// random order. List only servers of one ensemble, without spare servers that must not be used
// yet.
//
// If the ensemble has a dynamic configuration, the client prefers it to the records; see
// framework.WithoutEnsembleTracker.
//
// Java has no counterpart.
type SRVProvider struct {
	name    string
	cfg     config
	changed wait.Signal // tells the client of another answer
	asked   wait.Signal // tells the goroutine of a question

	mu      sync.Mutex
	answer  string // a connect string
	fresh   bool   // the answer was looked up for the question that comes next
	current *life  // nil unless started
}

var (
	_ framework.EnsembleProvider = (*SRVProvider)(nil)
	_ framework.EnsembleNotifier = (*SRVProvider)(nil)
)

// life is what there is from a Start to a Close.
type life struct {
	end      context.CancelFunc
	done     chan struct{} // closed when the goroutine has ended
	failures int           // look-ups since the last that succeeded; of the goroutine
}

// NewSRVProvider returns a provider that reads the SRV records of name, such as
// "_zookeeper._tcp.example.com". A name without a dot at its end is searched for in the
// resolver's search domains, too. NewSRVProvider does no I/O. Its errors match
// framework.ErrInvalidOption.
func NewSRVProvider(name string, opts ...Option) (*SRVProvider, error) {
	if !validHost(name) || strings.Contains(name, ":") {
		return nil, fmt.Errorf("%w: %q is no DNS name", framework.ErrInvalidOption, name)
	}
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", framework.ErrInvalidOption, err)
	}
	return &SRVProvider{
		name: name, cfg: cfg, changed: wait.NewSignal(), asked: wait.NewSignal(),
	}, nil
}

// Start looks up the servers and returns when it has them, or when ctx ends, or after 10 s. It
// returns an error if there are none, see ErrNoServers, unless WithFallback gives others. Later
// look-ups keep the values of ctx and ignore its end. A second Start returns
// framework.ErrAlreadyStarted, unless Close was called in between.
func (p *SRVProvider) Start(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: the context is nil", framework.ErrInvalidOption)
	}
	lifetime, end := context.WithCancel(context.WithoutCancel(ctx))
	l := &life{end: end, done: make(chan struct{})}
	if !p.begin(l) {
		end()
		return fmt.Errorf("the SRV provider is in use: %w", framework.ErrAlreadyStarted)
	}
	answer, wrong, err := p.lookUp(ctx)
	switch {
	case err == nil:
		p.logLeftOut(wrong)
	case p.cfg.fallback == nil || ended(ctx) != nil:
		close(l.done)
		p.abandon(l)
		return err
	default:
		answer = strings.Join(p.cfg.fallback, ",")
		l.failures = 1
		p.cfg.logger.Warn("zookeeper: the SRV records cannot be read, the servers are those of WithFallback",
			"name", p.name, "servers", answer, "error", err)
	}
	p.mu.Lock()
	p.answer, p.fresh = answer, true
	p.mu.Unlock()
	go p.follow(lifetime, l)
	return nil
}

// begin makes l the provider's life, if it has none.
func (p *SRVProvider) begin(l *life) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil {
		return false
	}
	p.current = l
	return true
}

// abandon ends l, which has not become one.
func (p *SRVProvider) abandon(l *life) {
	l.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == l {
		p.current = nil
	}
}

// ConnectString returns the servers of the last successful look-up, "" before Start. It starts
// another look-up, and does not wait for it.
func (p *SRVProvider) ConnectString() string {
	p.mu.Lock()
	answer, fresh := p.answer, p.fresh
	p.fresh = false
	p.mu.Unlock()
	if !fresh {
		p.asked.Set()
	}
	return answer
}

// Changed returns a channel that has a value after a look-up with another answer.
func (p *SRVProvider) Changed() <-chan struct{} { return p.changed }

// Close ends the look-ups and returns nil when the last one has ended. If ctx ends first,
// because a resolver or a log handler has not returned, Close returns an error. It is
// idempotent and allowed before Start. Start may be called again after Close.
func (p *SRVProvider) Close(ctx context.Context) error {
	p.mu.Lock()
	l := p.current
	p.current = nil
	p.mu.Unlock()
	if l == nil {
		return nil
	}
	l.end()
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the look-up of the SRV records of %s has not returned: %w", p.name, ctx.Err())
	}
}

// follow looks the servers up until ctx ends, at the end of l.
func (p *SRVProvider) follow(ctx context.Context, l *life) {
	defer close(l.done)
	timer := time.NewTimer(p.cfg.interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-p.asked:
		}
		answer, wrong, err := p.lookUp(ctx)
		switch {
		case err == nil:
			p.take(l, answer, wrong)
		case ctx.Err() != nil:
			return
		default:
			p.keep(l, err)
		}
		timer.Reset(p.cfg.interval)
	}
}

// keep notes that a look-up failed, and logs the first of several.
func (p *SRVProvider) keep(l *life, err error) {
	l.failures++
	log := p.cfg.logger.Debug
	if l.failures == 1 {
		log = p.cfg.logger.Warn
	}
	log("zookeeper: the SRV records cannot be read, the servers stay as they are", "name", p.name, "error", err)
}

// take notes the answer of a look-up, of which some records may be wrong.
func (p *SRVProvider) take(l *life, answer string, wrong error) {
	p.mu.Lock()
	last := p.answer
	p.answer = answer
	p.mu.Unlock()
	if answer != last {
		p.changed.Set()
		p.cfg.logger.Info("zookeeper: the SRV records name other servers", "name", p.name, "servers", answer, "before", last)
		p.logLeftOut(wrong)
	}
	if l.failures > 0 {
		p.cfg.logger.Info("zookeeper: the SRV records can be read again", "name", p.name, "failures", l.failures)
		l.failures = 0
	}
}

// logLeftOut logs what is wrong with records of an answer that has others.
func (p *SRVProvider) logLeftOut(wrong error) {
	if wrong != nil {
		p.cfg.logger.Warn("zookeeper: some SRV records are left out", "name", p.name, "error", wrong)
	}
}

// lookUp asks DNS and returns a connect string, and what is wrong with the records that are
// not in it.
func (p *SRVProvider) lookUp(ctx context.Context) (answer string, wrong, err error) {
	bounded, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	_, records, err := p.cfg.resolver.LookupSRV(bounded, "", "", p.name)
	servers, wrong := serversOf(records)
	if len(servers) == 0 {
		return "", nil, p.failure(ctx, err, wrong)
	}
	if wrong == nil {
		wrong = err // a *net.Resolver leaves records with invalid names out, too
	}
	return strings.Join(servers, ","), wrong, nil
}

// failure returns why a look-up for ctx has named no server, from the resolver's error and
// from what is wrong with its records.
func (p *SRVProvider) failure(ctx context.Context, err, wrong error) error {
	var dns *net.DNSError
	switch {
	case wrong != nil:
		err = fmt.Errorf("%w: %w", ErrNoServers, wrong)
	case err == nil:
		err = ErrNoServers
	case errors.As(err, &dns) && dns.IsNotFound:
		err = fmt.Errorf("%w: %w", ErrNoServers, err)
	case ended(ctx) != nil:
		err = fmt.Errorf("%w: %w", ended(ctx), err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		// The time of the look-up is over, or of its attempts: errors.Is must not find the end
		// of the caller's context in it.
		err = fmt.Errorf("no answer: %s", err.Error())
	}
	return fmt.Errorf("SRV records of %s: %w", p.name, err)
}

// ended returns ctx.Err(), or what that will be in a moment: the deadline of a connection, which
// is that of ctx, can be noticed before the end of ctx.
func ended(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && ctx.Err() == nil && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// serversOf returns host:port of every record that names a server, the best priority first,
// and what is wrong with the other records. The same records give the same list, in whatever
// order DNS has them: a list that differs makes the client begin with its servers anew.
func serversOf(records []*net.SRV) (servers []string, wrong error) {
	records = slices.DeleteFunc(slices.Clone(records), func(r *net.SRV) bool { return r == nil })
	slices.SortFunc(records, func(a, b *net.SRV) int {
		return cmp.Or(
			cmp.Compare(a.Priority, b.Priority),
			cmp.Compare(b.Weight, a.Weight),
			cmp.Compare(host(a), host(b)),
			cmp.Compare(a.Port, b.Port))
	})
	var problems []string
	for _, r := range records {
		server, err := serverOf(r)
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case !slices.Contains(servers, server):
			servers = append(servers, server)
		}
	}
	if len(problems) > 0 {
		wrong = errors.New(strings.Join(problems, ", "))
	}
	return servers, wrong
}

// host returns a record's target without the dot at its end, in lower case: some resolvers
// change the case of names at random with every question, and a target may share its end with
// the name that was asked for.
func host(r *net.SRV) string { return strings.ToLower(strings.TrimSuffix(r.Target, ".")) }

func serverOf(r *net.SRV) (string, error) {
	name := host(r)
	switch {
	case name == "":
		return "", errors.New(`the target "." says that the service is not available`)
	case !validHost(name):
		return "", fmt.Errorf("the target %q is no valid host name", r.Target)
	case r.Port == 0:
		return "", fmt.Errorf("the target %q has port 0", r.Target)
	}
	return net.JoinHostPort(name, strconv.Itoa(int(r.Port))), nil
}
