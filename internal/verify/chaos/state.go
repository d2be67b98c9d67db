package chaos

import (
	"fmt"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/chaos/fleet"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/nemesis"
	"github.com/go-curator/curator/internal/verify/chaos/store"
	"github.com/go-curator/curator/internal/verify/chaos/wallclock"
	"github.com/go-curator/curator/tools/curatortest"
)

// serverCount is how many servers the ensemble has.
const serverCount = 3

// maxHeap bounds the heap of a worker at its end.
const maxHeap = 64 << 20

// root is the node below which everything happens.
const root = "/chaos"

// run is a run.
type run struct {
	Config
	stage    *stage
	recorder *recorder
	dir      string // for programs and for what the workers say
	servers  *curatortest.Ensemble
	store    *store.Server
	operator *framework.Client
	workers  []*fleet.Member
	foreign  []*fleet.Member
	absent   []string // what this machine does not have: foreign workers, clocks
	library  *wallclock.Library
	clocks   []nemesis.Clock
	misdated int
	dropped  int
}

// progress says how the run goes.
func (r *run) progress(format string, args ...any) {
	_, _ = fmt.Fprintf(r.Progress, format+"\n", args...) // it is not what counts
}

// failed is the event of something that the run itself could not do.
func failed(format string, args ...any) history.Event {
	return history.Event{At: history.Now(), Kind: history.Failed, Text: fmt.Sprintf(format, args...)}
}
