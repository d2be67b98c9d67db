package replay_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/replay"
	"github.com/go-curator/curator/internal/verify/chaos/txnlog"
)

// A transaction is logged with the time of its leader's wall clock, and gets the right time, whichever
// server leads and however the clocks are stepped. Nothing is committed during an election.
func TestRightTimes(t *testing.T) {
	const servers, ahead = 3, int64(1_700_000_000_000_000_123) // of the wall clock, before that of the history
	millisecond := int64(time.Millisecond)
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		offsets := []time.Duration{0, 30 * time.Second, -30 * time.Second, 10 * time.Minute, 3 * time.Hour, -3 * time.Hour}
		var events []history.Event
		var logged, want []txnlog.Txn
		clocks, leader := make([]int64, servers), 0
		step := func(at int64, server int, offset time.Duration) {
			clocks[server] = int64(offset)
			events = append(events, history.Event{At: at, Kind: history.Stepped, Process: replay.Server + string(rune('0'+server)), Value: int64(offset)})
		}
		now := int64(time.Hour)
		for zxid := range int64(3000) {
			now += random.Int64N(200 * millisecond)
			if random.IntN(20) == 0 {
				step(now, random.IntN(servers), offsets[random.IntN(len(offsets))])
			}
			if random.IntN(100) == 0 {
				leader, now = random.IntN(servers), now+random.Int64N(10*int64(time.Second))
			}
			logged = append(logged, txnlog.Txn{Zxid: zxid, Time: (now + ahead + clocks[leader]) / millisecond})
			want = append(want, txnlog.Txn{Zxid: zxid, Time: (now + ahead) / millisecond})
		}
		step(now, 0, 0)
		step(now, 1, 0)
		step(now, 2, 0)
		for i, got := range replay.RightTimes(logged, events, ahead) {
			if got.Zxid != want[i].Zxid || got.Time != want[i].Time {
				t.Fatalf("seed %d: transaction %d is of %d, not %d", seed, i, got.Time, want[i].Time)
			}
		}
	}
}

// Without steps the times are as they were.
func TestRightTimesWithoutSteps(t *testing.T) {
	txns := []txnlog.Txn{{Zxid: 1, Time: 7}, {Zxid: 2, Time: 5}}
	java := []history.Event{{Kind: history.Stepped, Process: "java", Value: 1}}
	for i, got := range replay.RightTimes(txns, java, 3) {
		if got.Time != txns[i].Time {
			t.Errorf("transaction %d is of %d", i, got.Time)
		}
	}
}
