// Package hosts has the servers of a client: in which order they are tried, what their names stand for, and how a
// connection to one of them is made. It knows nothing of what is said on a connection.
//
// Code of users, a dialer or an Order, runs without locks and on goroutines of its own, but for the reads and writes of a
// connection.
package hosts

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// List is the servers. It paces the attempts: the driver itself pauses only after a
// failed round, and not at all when connections open and break at once.
//
// There are two lists: the user's, and before it the ensemble's own, if that is known. The names that
// an ensemble has for its servers may be useless here, for example outside of a container's network.
// So each round that fails goes on through the user's list.
//
// The lists have names. At the beginning of each round the names are looked up, and each address is a
// server of its own.
type List struct {
	resolve Resolve // nil: names are left alone
	by      ordered // decides in place of the lists, if there is an Order

	mu sync.Mutex
	serverLists
	round    roundEnd
	due      bool     // the names are to be resolved before the next attempt
	targets  []Target // what servers stands for, in the order of the attempts
	others   []Target // what fallback stands for
	next     int      // of targets
	tries    int      // since the beginning of the round
	failures int      // attempts since a connection held
	backoff  *backoff.ExponentialBackOff
	stopped  bool
	current  *Attempt // the newest; nil before the first
}

// serverLists are the names of the servers.
type serverLists struct {
	servers    []string // the ones to use
	configured []string // by the user
	fallback   []string // those of configured that are not among servers
	version    int      // of the lists
}

// New returns a list of servers, host:port. If resolve is nil, names are left alone. An order that is not nil decides in
// place of the list.
func New(servers []string, resolve Resolve, order Order) *List {
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(50*time.Millisecond),
		backoff.WithMaxInterval(time.Second),
		backoff.WithRandomizationFactor(1), // full jitter: from nothing to twice the interval
		backoff.WithMaxElapsedTime(0))
	servers = slices.Clone(servers)
	return &List{
		resolve: resolve, by: ordered{order: order}, backoff: b, serverLists: serverLists{servers: servers, configured: servers}, due: true,
	}
}

// Set replaces all servers. If the one of the newest attempt is not among them, the attempt ends. The new servers have
// not failed yet.
func (l *List) Set(servers []string) {
	servers = slices.Clone(servers)
	l.mu.Lock()
	l.servers, l.configured, l.fallback = servers, servers, nil
	l.version++
	l.due, l.targets, l.others, l.failures = true, nil, nil, 0
	a := l.current
	gone := a != nil && !slices.Contains(servers, a.Target.Server)
	if gone {
		a.gone = true
	}
	l.mu.Unlock()
	if gone {
		a.cancel(ErrGone) // it may have contexts of a user's below it
	}
}

// IsGone tells whether the server of an attempt was taken off the list since it began.
func (l *List) IsGone(a *Attempt) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return a != nil && a.gone
}

// Trying returns the server of the newest attempt, the zero target while it is looked up.
func (l *List) Trying() Target {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current == nil {
		return Target{}
	}
	return l.current.Target
}

// Prefer puts servers before those of the user. If they are the servers that are used already, nothing
// changes: the next attempt goes to the next server.
func (l *List) Prefer(servers []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Equal(slices.Sorted(slices.Values(servers)), slices.Sorted(slices.Values(l.servers))) {
		return
	}
	l.servers, l.fallback = slices.Clone(servers), nil
	l.version++
	l.due, l.targets, l.others = true, nil, nil
	for _, server := range l.configured {
		if !slices.Contains(servers, server) {
			l.fallback = append(l.fallback, server)
		}
	}
}

// Size returns how many attempts make a round, in which all servers are tried.
func (l *List) Size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.perRound()
}

// perRound is Size; l.mu is held. Before names are resolved each counts once.
func (l *List) perRound() int {
	switch {
	case l.by.order != nil:
		return max(l.by.named.size, 1)
	case len(l.targets) == 0:
		return len(l.servers) + len(l.fallback)
	}
	return len(l.targets) + len(l.others)
}

// Begin begins an attempt. A round begins with the look-up of the names, which may take as long as
// bound says.
func (l *List) Begin(ctx context.Context, bound time.Duration) (context.Context, *Attempt) {
	if l.by.order != nil {
		return l.beginOrdered(ctx)
	}
	for {
		attemptCtx, cancel := context.WithCancelCause(ctx)
		l.mu.Lock()
		a := &Attempt{cancel: cancel}
		l.current = a
		if !l.due {
			a.Target, a.last = l.take()
			l.mu.Unlock()
			return attemptCtx, a
		}
		version, servers, fallback := l.version, l.servers, l.fallback
		l.mu.Unlock()

		lookUps, end := context.WithTimeout(attemptCtx, bound)
		targets := expand(lookUps, l.resolve, slices.Concat(servers, fallback))
		end()
		cancel(nil)
		l.mu.Lock()
		if l.version == version { // else these are the addresses of another list
			l.begun(slices.Concat(targets[:len(servers)]...), slices.Concat(targets[len(servers):]...))
		}
		l.mu.Unlock()
	}
}

// beginOrdered is Begin with an Order. Of its servers those are known that it has named last.
func (l *List) beginOrdered(ctx context.Context) (context.Context, *Attempt) {
	ctx, cancel := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	named := l.by.named
	a := &Attempt{cancel: cancel, Target: named.target}
	l.current = a
	l.targets = slices.DeleteFunc(l.targets, a.Target.is)
	l.targets = append(l.targets[max(0, len(l.targets)+1-max(named.size, 1)):], a.Target)
	return ctx, a
}

// begun notes the addresses of a round that begins; l.mu is held. Known addresses keep their order, and
// the round begins with the next of them, not with the one that was lost just now.
func (l *List) begun(targets, others []Target) {
	var known []Target
	if len(l.targets) > 0 {
		known = slices.Concat(l.targets[l.next:], l.targets[:l.next])
	}
	l.targets, l.others = inOrder(known, targets), inOrder(nil, others)
	l.due, l.next, l.tries = false, 0, 0
}

// inOrder returns targets without duplicates: first those that are known, in their order, then the
// others in random order, so that clients spread.
func inOrder(known, targets []Target) []Target {
	var ordered, rest []Target
	for _, t := range known {
		if i := slices.IndexFunc(targets, t.is); i >= 0 {
			ordered = append(ordered, targets[i])
		}
	}
	for _, t := range targets {
		if !slices.ContainsFunc(ordered, t.is) && !slices.ContainsFunc(rest, t.is) {
			rest = append(rest, t)
		}
	}
	rand.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return append(ordered, rest...)
}

// take returns the next server, and whether it is the last of its round; l.mu is held.
func (l *List) take() (t Target, last bool) {
	i := l.tries - len(l.targets)
	l.tries++
	last = l.tries >= l.perRound()
	l.due = last
	if i >= 0 {
		return l.others[i], last
	}
	t = l.targets[l.next]
	l.next = (l.next + 1) % len(l.targets)
	return t, last
}

// Ended notes the end of an attempt or of its connection. held says that the connection lasted for a
// while. An attempt whose server was taken off the list is no failure.
func (l *List) Ended(a *Attempt, held bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case held:
		l.failures = 0
		l.backoff.Reset()
	case a == nil || !a.gone:
		l.failures++
	}
}

// Stop ends the attempts.
func (l *List) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
}

// ask asks the Order, if there is one, for the next server. That is ahead of the pause before the attempt, because the
// answer may be that all servers were tried in vain: calls that have waited so far then end at once, and calls that begin
// in the pause wait for the attempt. When ctx ends it does not wait for the Order.
func (l *List) ask(ctx context.Context) {
	l.mu.Lock()
	idle := l.by.order == nil || l.stopped
	l.mu.Unlock()
	if idle {
		return
	}
	named := l.by.ask(ctx.Done())
	l.mu.Lock()
	defer l.mu.Unlock()
	if named.again {
		l.round.end()
	}
	l.by.named = named
}

// Pause returns how long to wait before the next attempt: nothing for the first round. Ahead of that it asks the Order,
// if there is one, for the server of the attempt, until ctx ends.
func (l *List) Pause(ctx context.Context) (d time.Duration, stopped bool) {
	l.ask(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures < l.perRound() || l.by.goesOn() {
		return 0, l.stopped
	}
	return l.backoff.NextBackOff(), l.stopped
}

// GoOn undoes Connected for the newest attempt, whose connection was of no use: the round goes on with the
// servers that were not tried.
func (l *List) GoOn(a *Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a != nil && a == l.current && len(l.targets) > 0 {
		l.due = a.last
	}
}

// Known returns the addresses of all servers, nil while they are not known.
func (l *List) Known() []Target {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.targets) < l.by.named.size {
		return nil
	}
	return slices.Concat(l.targets, l.others)
}

// Connected notes that a server has accepted a session: the next attempt begins a round. It tells the Order, if there is
// one, until ctx ends.
func (l *List) Connected(ctx context.Context) {
	if l.by.order != nil {
		l.by.connected(ctx.Done())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.due = true
}

// Failed notes why an attempt has failed. blamed says that this is the server's fault, and round that all servers have
// been tried in vain with it.
func (l *List) Failed(a *Attempt, err error) (blamed, round bool) {
	blamed = !errors.Is(err, ErrGone)
	if round = a.last && blamed; round {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.round.end()
	}
	return blamed, round
}

// RoundInVain returns a channel that is closed when all servers have been tried in vain.
func (l *List) RoundInVain() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.round.inVain()
}

// NotInVain notes that a server may accept the client in the next round, because it has answered that the session is over,
// or will be asked for reads alone. So this round does not count as in vain.
func (l *List) NotInVain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.round.notInVain = true
}

// Addresses returns all servers, with the addresses that their names have now.
func (l *List) Addresses(ctx context.Context) []Target {
	l.mu.Lock()
	all := slices.Concat(l.servers, l.fallback)
	l.mu.Unlock()
	return slices.Concat(expand(ctx, l.resolve, all)...)
}
