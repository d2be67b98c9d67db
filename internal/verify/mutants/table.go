package mutants

import "slices"

const (
	lockqueueDir = "recipes/internal/lockqueue/"
	ephemeralDir = "recipes/internal/ephemeral/"
	zkconnDir    = "internal/zkconn/"
	queueDir     = "recipes/queue/"
	cacheDir     = "recipes/cache/"
	inboxDir     = "recipes/internal/inbox/"
)

// All returns the mutants. Rules are those of docs/lock-model.md and docs/session.md.
func All() []Mutant {
	return slices.Concat(locks(), contenders(), sessions(), keptWatches(), recipes(), orders())
}

// keptWatches are mistakes in what framework/zk promises beyond the driver.
func keptWatches() []Mutant {
	return []Mutant{
		{
			Name: "a cut forgets what was missed before it", Breaks: "no watch is lost",
			Edits:   []Edit{{zkconnDir + "watchtable.go", "case w.kept == keptSet:", "default:"}},
			Package: "internal/zkconn", Tests: "^TestKeptWatches$",
		},
		{
			Name: "a watch has the event of a change before its read", Breaks: "one event for each watch",
			Edits:   []Edit{{zkconnDir + "watchtable.go", "if w.asked() { // the server has not read", "if false { // the server has not read"}},
			Package: "internal/zkconn", Tests: "^TestKeptWatches$",
		},
		{
			Name: "who has an ephemeral node is not told at the deadline", Breaks: "told before the next holder",
			Edits:   []Edit{{"framework/zk/conn.go", "c.conn.GiveUp(e.Session)", "_ = e.Session"}},
			Package: "framework/zk", Tests: "^TestToldBeforeTheNext$",
		},
	}
}

// locks are mistakes in the queue of contenders.
func locks() []Mutant {
	return []Mutant{
		{
			Name: "marker after a downgrade", Breaks: "rule 5",
			Edits:   []Edit{{ephemeralDir + "node.go", "return n.waited && !n.placeGone", "return n.waited"}},
			Package: "recipes/locks", Tests: "^TestDowngradeKeepsWritersOut$",
		},
		{
			Name: "marker from a waiter that gives up", Breaks: "rule 5",
			Edits:   []Edit{{lockqueueDir + "leave.go", "ephemeral.Release{}.Remove(", "ephemeral.Release{Marker: node.Path + \".released\"}.Remove("}},
			Package: "recipes/locks", Tests: "^TestRule[45]$",
		},
		{
			Name: "list before create counts", Breaks: "rule 1",
			Edits:   []Edit{{lockqueueDir + "decide.go", "if !c.allIn(queue) {", "if false {"}},
			Package: "recipes/locks", Tests: "^TestWaitNodeDeleted$/mutex/virtual",
		},
		{
			Name: "foreign session's node adopted", Breaks: "rule 1",
			Edits: []Edit{
				{"internal/zkclient/create.go", "stat.Stat.EphemeralOwner != session || cr.doubtSession != session", "stat.Stat.EphemeralOwner == 0"},
				{ephemeralDir + "hold.go", "if node.Owner != node.Session {", "if false {"},
			},
			Package: "recipes/locks", Tests: "^TestForeignNodeIsNotAdopted$",
		},
		{
			Name: "deadline ignored", Breaks: "rule 11",
			Edits:   []Edit{{ephemeralDir + "hold.go", "case !time.Now().Before(deadline), !s.IsConnected()", "case time.Time{}.After(deadline), !s.IsConnected()"}},
			Package: "recipes/internal/ephemeral", Tests: "^TestRule11$",
		},
		{
			Name: "session's end ignored at the grant", Breaks: "rule 11",
			Edits:   []Edit{{ephemeralDir + "hold.go", "case !alive:\n\t\treturn ErrGone", "case !alive && h == nil:\n\t\treturn ErrGone"}},
			Package: "recipes/internal/ephemeral", Tests: "^TestRule11$",
		},
		{
			Name: "one predecessor watched of several", Breaks: "the order of a semaphore",
			Edits:   []Edit{{"recipes/locks/rules.go", "slices.Clone(children[i-maxLeases : i])", "slices.Clone(children[i-maxLeases : i-maxLeases+1])"}},
			Package: "recipes/locks", Tests: "^TestSemaphoreAnyLeaseGoes$/^first$/virtual",
		},
		{
			Name: "list skipped on NodeDeleted", Breaks: "rule 4",
			Edits:   []Edit{{lockqueueDir + "wait.go", "if !c.ahead.isNext {", "if len(c.ahead.nodes) != 1 {"}},
			Package: "recipes/locks", Tests: "^TestRule[45]$",
		},
		{
			Name: "own node not watched", Breaks: "rule 2",
			Edits: []Edit{
				{lockqueueDir + "arm.go", "wants := make([]watchset.Want, 1, 1+2*len(c.ahead.nodes))", "wants := make([]watchset.Want, 0, 1+2*len(c.ahead.nodes))"},
				{lockqueueDir + "arm.go", "wants[0] = watchset.Want{Path: c.last().Path, Tag: ownNode}", "_ = ownNode"},
			},
			Package: "recipes/locks", Tests: "^TestRule[23]$",
		},
		{
			Name: "next behind a writer", Breaks: "rule 6",
			Edits:   []Edit{{"recipes/locks/rwlock.go", "next: layout.IsReader,", "next: anyNode,"}},
			Package: "recipes/locks", Tests: "^TestNextBehindADowngrade$",
		},
		{
			Name: "next behind a node of the own session", Breaks: "rule 6",
			Edits:   []Edit{{lockqueueDir + "decide.go", "d.Next && !c.spec.Client.Made(d.Behind[0])", "d.Next"}},
			Package: "recipes/locks", Tests: "^TestNextOfTheSameClient$",
		},
		{
			Name: "downgrade not checked", Breaks: "rule 5",
			Edits:   []Edit{{lockqueueDir + "place.go", "|| !slices.Contains(c.place.names, before)", "|| slices.Contains(c.place.names, \"\")"}},
			Package: "recipes/locks", Tests: "^TestDowngradeWithoutTheWriter$/virtual",
		},
		{
			Name: "watches are not given back", Breaks: "rule 9",
			Edits:   []Edit{{lockqueueDir + "wait.go", "return known && w.Tag == nodeAhead", "return known || w != nil"}},
			Package: "recipes/locks", Tests: "^TestRule9$",
		},
		{
			Name: "the numbers may end", Breaks: "rule 10",
			Edits:   []Edit{{lockqueueDir + "requests.go", "n <= math.MaxInt32-reserve", "n <= math.MaxInt32"}},
			Package: "recipes/locks", Tests: "^Test(A10SequenceWraps|.*Sequence.*)$",
		},
	}
}

// contenders are mistakes in what a contender tells its user, and makes of the answer.
func contenders() []Mutant {
	return []Mutant{
		{
			Name: "others ahead are told of once", Breaks: "a Step after each new list",
			Edits:   []Edit{{lockqueueDir + "next.go", "if from == look && next == arm {", "if from == look && next == arm && !c.place.waited {"}},
			Package: "recipes/internal/lockqueue", Tests: "^TestStepForEachList$",
		},
		{
			Name: "a lost node is looked for", Breaks: "another place after ErrGone",
			Edits: []Edit{{
				lockqueueDir + "next.go", "case errors.Is(why, ephemeral.ErrGone):\n\t\tc.state = restart",
				"case errors.Is(why, ephemeral.ErrGone):\n\t\tc.state = look",
			}},
			Package: "recipes/internal/lockqueue", Tests: "^TestAnotherPlaceAfterErrGone$",
		},
		{
			Name: "the place is kept behind Held", Breaks: "another place after Held",
			Edits:   []Edit{{lockqueueDir + "next.go", "if !c.spec.Stays {\n\t\tc.place = place{}", "if false {\n\t\tc.place = place{}"}},
			Package: "recipes/internal/lockqueue", Tests: "^TestAnotherPlaceAfterHeld$",
		},
	}
}

// sessions are mistakes in what a client believes of its session.
func sessions() []Mutant {
	return []Mutant{
		{
			Name: "margin of nothing", Breaks: "rule S4",
			Edits:   []Edit{{zkconnDir + "lease/clock.go", "\treturn timeout / 8\n}", "\treturn 0\n}"}},
			Package: "internal/zkconn", Tests: "^TestRuleS4OfTheDefaultMargin$",
		},
		{
			Name: "margin left out of the deadline", Breaks: "rule S4",
			Edits:   []Edit{{zkconnDir + "lease/clock.go", "return max(c.proof.heard+c.timeout-c.margin, c.usage.brief)", "return max(c.proof.heard+c.timeout, c.usage.brief)"}},
			Package: "internal/zkconn/lease", Tests: "^TestRuleS4",
		},
		{
			Name: "beat not proved", Breaks: "rule S1",
			Edits:   []Edit{{zkconnDir + "lease/session.go", "if l.options.TrustAnswers {", "if true {"}},
			Package: "internal/zkconn", Tests: "^TestRule",
		},
		{
			Name: "one request is a proof", Breaks: "rule S1",
			Edits:   []Edit{{zkconnDir + "lease/evidence.go", "s := Stamp{Sent: now, first: proof{asked: now}, second: e.first}", "s := Stamp{Sent: now, first: proof{asked: now}, second: proof{heard: now, asked: now}}"}},
			Package: "internal/zkconn/lease", Tests: "^TestRuleS1",
		},
		{
			Name: "one proof after a silence", Breaks: "rule S6",
			Edits:   []Edit{{zkconnDir + "lease/clock.go", "c.doubt.gap, c.doubt.first, c.usage.brief = true, 0, 0", "c.doubt.gap, c.doubt.first, c.usage.brief = false, 0, 0"}},
			Package: "internal/zkconn/lease", Tests: "^TestRuleS6",
		},
		{
			Name: "a write behind the deadline is believed", Breaks: "rule S6",
			Edits:   []Edit{{zkconnDir + "lease/clock.go", "(c.usage.stale || now < c.deadline())", "(true || now < c.deadline())"}},
			Package: "internal/zkconn/lease", Tests: "^TestStatesOfHistories$",
		},
		{
			Name: "no sync after a reconnect", Breaks: "rule 7",
			Edits:   []Edit{{zkconnDir + "owner.go", "first = append(first, sync)", "_ = first"}},
			Package: "recipes/locks", Tests: "^Test(Create|Wait|Hold)Lagging$/mutex/virtual",
		},
	}
}

// recipes are mistakes in the other recipes.
func recipes() []Mutant {
	return []Mutant{
		{
			Name: "transaction of the queue without its check", Breaks: "at least once, and a guarded effect once",
			Edits: []Edit{
				{queueDir + "message.go", "tx.Check().ForPath(d.lockPath()))", "tx.Check().ForPath(d.q.path))"},
				{queueDir + "message.go", "tx.Delete().ForPath(d.path()), tx.Delete().ForPath(d.lockPath()))", "tx.Delete().ForPath(d.path()))"},
			},
			Package: "recipes/queue", Tests: "^TestGuard",
		},
		{
			Name: "snapshot published at an event", Breaks: "a snapshot is the tree at one moment",
			Edits:   []Edit{{cacheDir + "follow.go", "f.event(m.Event)", "f.event(m.Event)\n\t\tf.showExact()"}},
			Package: "recipes/cache", Tests: "^Test(RandomHistories|Burst)$",
		},
		{
			Name: "the latch's node of an earlier session stays", Breaks: "rule L6",
			Edits:   []Edit{{lockqueueDir + "next.go", "c.giveUp(ctx)\n\tswitch", "c.endWait()\n\tc.place = place{}\n\tswitch"}},
			Package: "recipes/leader", Tests: "^TestRuleL",
		},
		{
			Name: "a term without a deadline", Breaks: "rule L4",
			Edits:   []Edit{{"recipes/locks/hold.go", "h.lose(LossDeadline, nil)", "_ = h"}},
			Package: "recipes/leader", Tests: "^TestRuleL4$",
		},
		{
			Name: "a barrier opens unchecked", Breaks: "rule B4",
			Edits:   []Edit{{"recipes/barriers/enter.go", "len(ops) < e.memberQty {", "len(ops) < 0 {"}},
			Package: "recipes/barriers", Tests: "^TestRuleB4$",
		},
		{
			Name: "a dead ready lets in", Breaks: "rule B3",
			Edits:   []Edit{{"recipes/barriers/ready.go", "other.Czxid < v.ready.Czxid", "other.Czxid > 0"}},
			Package: "recipes/barriers", Tests: "^TestRuleB(3|10)$",
		},
		{
			Name: "a member leaves without the others", Breaks: "rule B8",
			Edits:   []Edit{{"recipes/barriers/leave.go", "for len(d.others) > 0 {", "for d.round < 0 {"}},
			Package: "recipes/barriers", Tests: "^TestRuleB8$",
		},
		{
			Name: "a member leaves at the first event", Breaks: "rule B8",
			Edits:   []Edit{{"recipes/barriers/leave.go", "return name == own || !slices.Contains(names, name)", "return name == own || !slices.Contains(names, name) || d.seen"}},
			Package: "recipes/barriers", Tests: "^Test(RuleB8|Rounds|WaitsOutlive)$",
		},
		{
			Name: "a dead ready stays", Breaks: "rule B10",
			Edits:   []Edit{{"recipes/barriers/leave.go", "if d.remains {", "if d.remains && d.node != \"\" {"}},
			Package: "recipes/barriers", Tests: "^TestRuleB10$",
		},
		{
			Name: "a late removal takes the next round's ready", Breaks: "rule B10",
			Edits:   []Edit{{"recipes/barriers/ready.go", "op.Check().WithVersion(version)", "op.Check().WithVersion(min(version, -1))"}},
			Package: "recipes/barriers", Tests: "^TestRemovalLate$",
		},
		{
			Name: "a late removal takes Java's ready", Breaks: "rule B10",
			Edits:   []Edit{{"recipes/barriers/ready.go", "op.Delete().WithVersion(layout.MarkedVersion)", "op.Delete()"}},
			Package: "recipes/barriers", Tests: "^TestRemovalLate$",
		},
		{
			Name: "a late removal in a barrier that was made anew", Breaks: "rule B10",
			Edits:   []Edit{{"recipes/barriers/ready.go", "if own != \"\" {", "if len(own) < 0 {"}},
			Package: "recipes/barriers", Tests: "^TestRemovalLate$",
		},
		{
			Name: "a barrier's data are overwritten", Breaks: "rule B4",
			Edits:   []Edit{{"recipes/barriers/ready.go", "if barrier.DataLength > 0 {", "if barrier.DataLength < 0 {"}},
			Package: "recipes/barriers", Tests: "^TestBarrierKeepsData$",
		},
	}
}

// orders are mistakes in what the session layer and the parts of the recipes tell, and when. They are caught by
// the test that all components share.
func orders() []Mutant {
	const pkg, tests = "internal/sequences", "^TestSequences$"
	return []Mutant{
		{
			Name: "a failed reply ahead of Suspended", Breaks: "losses come before errors",
			Edits:   []Edit{{zkconnDir + "mux_end.go", "m.owner.died(m, err)\n\tm.endCalls(err)", "m.endCalls(err)\n\tm.delivery.run()\n\tm.owner.died(m, err)"}},
			Package: pkg, Tests: tests,
		},
		{
			Name: "a loss told behind the failed call", Breaks: "losses come before errors",
			Edits:   []Edit{{zkconnDir + "owner.go", "func (c *Conn) died(w *muxConn, err error) {\n\tdefer c.reports.losses.tell()", "func (c *Conn) died(w *muxConn, err error) {\n\tdefer c.reports.wake()"}},
			Package: pkg, Tests: tests,
		},
		{
			Name: "a dropped Connected", Breaks: "every new connection is told",
			Edits:   []Edit{{zkconnDir + "owner.go", "c.link.tell(WatchReset)", "_ = c.link.observers"}},
			Package: pkg, Tests: tests,
		},
		{
			Name: "a lost wake", Breaks: "every message wakes its recipe",
			Edits:   []Edit{{inboxDir + "inbox.go", "b.messages = append(b.messages, m...)\n", "if b.messages = append(b.messages, m...); m[0].Kind == Connected {\n\t\treturn\n\t}\n"}},
			Package: pkg, Tests: tests,
		},
		{
			Name: "a refused request without a reply", Breaks: "every request has a reply",
			Edits:   []Edit{{inboxDir + "inbox.go", "b.add(Message{Kind: Suspended})\n\t\tb.addUnsent()", "b.add(Message{Kind: Suspended})"}},
			Package: pkg, Tests: tests,
		},
		{
			Name: "a pause that swallows a wake", Breaks: "a new connection ends the wait for it",
			Edits:   []Edit{{zkconnDir + "await.go", "case <-ready:", "case <-ready:\n\t\t\tselect {\n\t\t\tcase <-time.After(c.cfg.ConnectionTimeout):\n\t\t\tcase <-ctx.Done():\n\t\t\t}"}},
			Package: pkg, Tests: tests,
		},
		{
			Name: "a Close that waits for a reply", Breaks: "a clean-up ends with its context",
			Edits:   []Edit{{zkconnDir + "subscribe.go", "case <-ctx.Done():\n\t\treturn ctxError(ctx, true)\n\t}\n}", "case <-c.driver.ended:\n\t\treturn ctxError(ctx, true)\n\t}\n}"}},
			Package: pkg, Tests: tests,
		},
		{
			Name: "a Close that waits for a connection", Breaks: "a clean-up does not wait for servers that do not come back",
			Edits:   []Edit{{zkconnDir + "await.go", "alone.Reset(unreachable)", "alone.Stop()"}},
			Package: pkg, Tests: tests,
		},
	}
}
