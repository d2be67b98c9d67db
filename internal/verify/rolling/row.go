package rolling

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is what a step does to a server.
type Kind int

// The kinds of steps.
const (
	// Upgrade restarts a server with a later release. It must not be refused.
	Upgrade Kind = iota
	// Downgrade restarts a server with an earlier release. The release may refuse what the later one has written.
	Downgrade
	// Move has a server end the connections of its clients, while it goes on. A release may have no way to do so.
	Move
)

// Row is what was done to one server, and what it has cost.
type Row struct {
	Kind   Kind
	What   string // such as "3.6.4 to 3.8.6"
	Server string // its number, and the role that it had
	Took   time.Duration
	// Refused says why it could not be done: for a release in the words of the server. Then nothing has changed.
	Refused string

	Ended   int      // connections of the witnesses that have ended
	Kept    int      // leases and ephemeral nodes of the witnesses that were there before and after it
	Lost    []string // those that were there before it, and not after it
	Wrong   []string // what else must not be
	Counted int64    // increments that were acknowledged
}

// result returns the last column of the table.
func (r Row) result() string {
	var parts []string
	switch {
	case r.Refused != "":
		parts = append(parts, strings.ReplaceAll(r.Refused, "|", `\|`))
	case len(r.Lost)+len(r.Wrong) == 0:
		parts = append(parts, "good")
	}
	return strings.Join(append(append(parts, r.Lost...), r.Wrong...), "; ")
}

// Table returns the rows as a table in Markdown.
func Table(rows []Row) string {
	var b strings.Builder
	b.WriteString("| step | server | took | connections ended | kept | lost | increments | result |\n" +
		"| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %.1f s | %d | %d | %d | %d | %s |\n",
			r.What, r.Server, r.Took.Seconds(), r.Ended, r.Kept, len(r.Lost), r.Counted, r.result())
	}
	return b.String()
}

// Judge returns an error if the steps have cost what they must not cost, or show nothing:
//
//   - a lease was lost, a count, a node or a cache is wrong,
//   - an upgrade was refused,
//   - no lease was held, or nothing was counted,
//   - a server was to end connections, and none has ended, or none has ended in all restarts.
func Judge(rows []Row) error {
	var errs []error
	ended := 0
	for _, r := range rows {
		fail := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("%s, server %s: %s", r.What, r.Server, fmt.Sprintf(format, args...)))
		}
		for _, what := range r.Lost {
			fail("lost: %s", what)
		}
		for _, what := range r.Wrong {
			fail("%s", what)
		}
		if r.Kind == Upgrade && r.Refused != "" {
			fail("%s", r.Refused)
		}
		if r.Kept == 0 && len(r.Lost) == 0 {
			fail("no lease was held, so it shows nothing")
		}
		if r.Counted == 0 {
			fail("nothing was counted, so it shows nothing")
		}
		if r.Kind == Move && r.Refused == "" && r.Ended == 0 {
			fail("no connection has ended, so it shows nothing")
		}
		if r.Kind != Move {
			ended += r.Ended
		}
	}
	if ended == 0 {
		errs = append(errs, errors.New("no connection has ended in a restart, so nothing is shown"))
	}
	return errors.Join(errs...)
}

// words returns the line of a server's log that says why the server does not serve: the last one with an
// exception or an error, or the last one. It leaves out what differs from run to run.
func words(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	said := lines[len(lines)-1]
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "at ") || strings.HasPrefix(line, "... ") {
			continue
		}
		if strings.Contains(line, " ERROR ") || strings.Contains(line, "Exception: ") || strings.Contains(line, "Error: ") {
			said = line
		}
	}
	if _, rest, ok := strings.Cut(said, " ERROR "); ok {
		said = rest
	}
	return strings.TrimSpace(strings.TrimPrefix(said, "Caused by: "))
}
