package rolling

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/matrix"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// roller does the steps.
type roller struct {
	Config
	progress io.Writer
	servers  *curatortest.Ensemble
	note     func(history.Event)
	clients  []*framework.Client
	witness  *witness
	rows     []Row
}

// roll goes up all releases, moves clients on the last one, and goes down again as far as the servers start.
func (r *roller) roll(ctx context.Context, servers *curatortest.Ensemble, note func(history.Event)) (err error) {
	r.servers, r.note = servers, note
	defer func() { err = errors.Join(err, r.close(ctx)) }()
	if err := r.start(ctx); err != nil {
		return err
	}
	for i, to := range r.Releases[1:] {
		if good, err := r.restartAll(ctx, Upgrade, r.Releases[i], to); err != nil || !good {
			return err
		}
	}
	if err := r.move(ctx); err != nil || r.OneWay {
		return err
	}
	for i, to := range slices.Backward(r.Releases[:len(r.Releases)-1]) {
		if good, err := r.restartAll(ctx, Downgrade, r.Releases[i+1], to); err != nil || !good {
			return err
		}
	}
	return nil
}

// start starts the witnesses. Their clients may change the members of the ensemble.
func (r *roller) start(ctx context.Context) (err error) {
	policy, losses := retry.BoundedExponentialBackoff(50*time.Millisecond, time.Second, 100), state.SessionErrorPolicy()
	if r.Standard {
		losses = state.StandardErrorPolicy()
	}
	for range r.Clients {
		client, err := realservers.Client(ctx, r.servers.ConnectString(), r.Session, policy,
			framework.WithErrorPolicy(losses), framework.WithAuthorization("digest", []byte(superuser)))
		if err != nil {
			return fmt.Errorf("start a witness: %w", err)
		}
		r.clients = append(r.clients, client)
	}
	r.witness, err = newWitness(ctx, r.clients, "/rolling")
	return err
}

// close ends the witnesses.
func (r *roller) close(ctx context.Context) (err error) {
	if r.witness != nil {
		err = r.witness.close(ctx)
	}
	for _, client := range r.clients {
		realservers.Close(ctx, client)
	}
	return err
}

// restartAll restarts each server with another release, the leader last. It is false if the release was
// refused: all servers have the release of before then.
func (r *roller) restartAll(ctx context.Context, kind Kind, from, to matrix.Release) (good bool, err error) {
	var modes []string
	for _, m := range r.servers.Members() {
		modes = append(modes, m.Mode())
	}
	var changed []*curatortest.Member
	for _, i := range order(modes) {
		m := r.servers.Member(i)
		row := Row{Kind: kind, What: from.Version + " to " + to.Version, Server: r.describe(i)}
		err := r.step(ctx, row, func() (refused string, err error) { return r.restart(ctx, m, from, to) })
		if err != nil {
			return false, err
		}
		if r.rows[len(r.rows)-1].Refused != "" {
			return false, r.restore(ctx, changed, from)
		}
		changed = append(changed, m)
	}
	return true, nil
}

// order returns the numbers of servers in the order in which they are restarted: the leader last.
func order(modes []string) (numbers []int) {
	var last []int
	for i, mode := range modes {
		if mode == "leader" {
			last = append(last, i)
		} else {
			numbers = append(numbers, i)
		}
	}
	return append(numbers, last...)
}

// describe names a server and its role.
func (r *roller) describe(i int) string {
	mode := r.servers.Member(i).Mode()
	if mode == "" {
		mode = "no role"
	}
	return fmt.Sprintf("%d, %s", i+1, mode)
}

// restart restarts a server with another release, or with that of before if it refuses.
func (r *roller) restart(ctx context.Context, m *curatortest.Member, from, to matrix.Release) (refused string, err error) {
	err = m.RestartWith(to.Home)
	version := to.Version
	if errors.Is(err, curatortest.ErrNotServing) {
		_, _ = fmt.Fprintf(r.progress, "%v\n", err) // the row has what counts
		refused, version = "refused: "+words(m.Log()), from.Version
		err = m.RestartWith(from.Home)
	}
	if err != nil {
		return "", err
	}
	return refused, r.awaitWhole(ctx, m, version)
}

// restore restarts servers with the release of before, because the ensemble does not go on with another one.
func (r *roller) restore(ctx context.Context, changed []*curatortest.Member, from matrix.Release) error {
	for _, m := range changed {
		if err := m.RestartWith(from.Home); err != nil {
			return err
		}
		if err := r.awaitWhole(ctx, m, from.Version); err != nil {
			return err
		}
	}
	return nil
}

// wholeTimeout bounds the time until an ensemble works again after a step.
const wholeTimeout = 2 * time.Minute

// awaitWhole waits until one server leads, and the others follow it, and m has a version.
func (r *roller) awaitWhole(ctx context.Context, m *curatortest.Member, version string) error {
	bounded, cancel := context.WithTimeout(ctx, wholeTimeout)
	defer cancel()
	for !realservers.Whole(r.servers.Members()) || m.Version() != version {
		if wait.For(bounded, 50*time.Millisecond) != nil {
			return fmt.Errorf("the ensemble does not work again after %v, or the server has the version %q and not %s:%s",
				wholeTimeout, m.Version(), version, r.logs())
		}
	}
	return nil
}

// logs returns the mode of each server and the end of its log.
func (r *roller) logs() string {
	var b strings.Builder
	for i, m := range r.servers.Members() {
		fmt.Fprintf(&b, "\nserver %d, version %q, mode %q:\n%s", i+1, m.Version(), m.Mode(), m.Log())
	}
	return b.String()
}

// step does something to a server under load, and adds its row.
func (r *roller) step(ctx context.Context, row Row, do func() (refused string, err error)) error {
	r.note(history.Event{At: history.Now(), Kind: history.Fault, Text: row.What + ", server " + row.Server})
	err := r.witness.during(ctx, &row, r.Pause, func() (err error) {
		row.Refused, err = do()
		return err
	})
	if err != nil {
		return fmt.Errorf("%s, server %s: %w", row.What, row.Server, err)
	}
	r.note(history.Event{At: history.Now(), Kind: history.Healed, Text: row.What})
	r.rows = append(r.rows, row)
	_, _ = fmt.Fprintf(r.progress, "%s, server %s: %s, after %v\n", row.What, row.Server, row.result(), row.Took.Round(100*time.Millisecond)) // the results are in the table
	return nil
}

// way is a way in which a server ends the connections of its clients while it goes on.
type way struct {
	what   string
	server func() int // the number of the server that is to do it
	do     func(ctx context.Context, m *curatortest.Member) error
}

// move has servers end the connections of their clients in each way that there is.
func (r *roller) move(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "rolling-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is a temporary folder
	jmx, noJMX := newConsole(ctx, dir)
	last := r.Releases[len(r.Releases)-1].Version
	for _, w := range []way{
		{"shed_connections of the AdminServer", r.busiest, func(ctx context.Context, m *curatortest.Member) error {
			return shed(ctx, fmt.Sprintf("http://127.0.0.1:%d", m.AdminPort()))
		}},
		{"terminateConnection by JMX", r.busiest, func(ctx context.Context, m *curatortest.Member) error {
			if noJMX != nil {
				return noJMX
			}
			return jmx.end(ctx, filepath.Dir(m.DataDir()))
		}},
		{"the leader removed by a reconfiguration, and added again", r.leader, r.removeAndAdd},
	} {
		i := w.server()
		m := r.servers.Member(i)
		err := r.step(ctx, Row{Kind: Move, What: last + ": " + w.what, Server: r.describe(i)}, func() (refused string, err error) {
			if err := w.do(ctx, m); errors.Is(err, errNoWay) {
				return err.Error(), nil
			} else if err != nil {
				return "", err
			}
			return "", r.awaitWhole(ctx, m, last)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// leader returns the number of the leader.
func (r *roller) leader() int { return slices.Index(r.servers.Members(), r.servers.Leader()) }

// busiest returns the number of the server that most witnesses are connected to.
func (r *roller) busiest() int {
	connected := make([]int, len(r.servers.Members()))
	for _, client := range r.clients {
		if i := slices.Index(r.servers.Members(), r.servers.MemberOf(client)); i >= 0 {
			connected[i]++
		}
	}
	return slices.Index(connected, slices.Max(connected))
}

// removeAndAdd removes the leader from the ensemble, waits until the others have a leader, and adds it again. A
// follower that is removed goes on without a vote, and ends no connection.
func (r *roller) removeAndAdd(ctx context.Context, m *curatortest.Member) error {
	ctx, cancel := context.WithTimeout(ctx, wholeTimeout)
	defer cancel()
	operator := r.clients[0]
	config, err := operator.GetConfig().ForEnsemble(ctx)
	if err != nil {
		return err
	}
	i := slices.Index(r.servers.Members(), m)
	id := fmt.Sprint(i + 1)
	member := memberIn(string(config), id)
	if member == "" {
		return fmt.Errorf("the configuration has no server %s: %q", id, config)
	}
	// The leader may go before it has answered.
	if _, err := operator.Reconfig().Leaving(id).ForEnsemble(ctx); err != nil && !framework.MaybeApplied(err) {
		return fmt.Errorf("remove server %s: %w", id, err)
	}
	others := slices.Delete(r.servers.Members(), i, i+1)
	for !realservers.Whole(others) {
		if wait.For(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("the others have no leader %v after server %s was removed", wholeTimeout, id)
		}
	}
	for { // a reply may be lost with the old leader, and to add a server twice changes nothing
		_, err := operator.Reconfig().Joining(member).ForEnsemble(ctx)
		if err == nil {
			return nil
		}
		if wait.For(ctx, 200*time.Millisecond) != nil {
			return fmt.Errorf("add server %s: %w", id, err)
		}
	}
}

// memberIn returns the line of a server in a configuration, or "".
func memberIn(config, id string) string {
	for line := range strings.Lines(config) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "server."+id+"=") {
			return line
		}
	}
	return ""
}
