package framework_test

import (
	"context"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// A server that is alone has a configuration without members, and does not let it be
// changed. TestReconfigEnsemble has what an ensemble does.
var configSteps = map[string]check{
	"GetConfig": func(t bench) {
		// Neither a namespace nor a chroot has one of its own.
		for _, c := range []*framework.Client{t.c, t.c.UsingNamespace("any")} {
			if _, err := c.GetConfig().ForEnsemble(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := t.network.Requests(jute.OpGetData); n != 2 {
			t.Fatalf("%d requests", n)
		}
	},
	"GetConfig/StoringStatIn": func(t bench) {
		var stat framework.Stat
		_, err := t.c.GetConfig().StoringStatIn(&stat).ForEnsemble(t.Context())
		if err != nil || stat != t.stat("/zookeeper/config") {
			t.Fatalf("%v, %+v", err, stat)
		}
	},
	"GetConfig/UsingWatcher": testGetConfigWatcher,
	"GetConfig/Watched": func(t bench) {
		events := make(chan framework.Event, 16)
		t.c.CuratorListenable().Add(func(_ context.Context, e framework.Event) { events <- e })
		_, err := t.c.GetConfig().Watched().ForEnsemble(t.Context())
		t.ok(err)
		t.network.Cut()
		if e := <-events; e.Op != "watched" || e.Path != "/zookeeper/config" || e.Watched.Type != framework.WatchReset {
			t.Fatalf("event %+v", e)
		}
		w, _ := watch()
		_, err = t.c.GetConfig().Watched().UsingWatcher(w).ForEnsemble(t.Context())
		t.want(err, framework.ErrInvalidBuilder)
	},
	"Reconfig": func(t bench) {
		for _, wrong := range []framework.ReconfigBuilder{
			t.c.Reconfig().Joining(""), t.c.Reconfig().Leaving("1", ""), t.c.Reconfig().WithNewMembers(""),
			t.c.Reconfig().Joining("server.1=a:1:2;3").WithNewMembers("server.1=a:1:2;3"),
			t.c.Reconfig().Leaving("1").WithNewMembers("server.1=a:1:2;3"),
		} {
			_, err := wrong.ForEnsemble(t.Context())
			t.want(err, framework.ErrInvalidBuilder)
		}
		t.refused(t.c.Reconfig().Joining("server.1=a:1:2;3").Leaving("2"))
		for _, empty := range []framework.ReconfigBuilder{ // which is for the server to refuse, as in Java
			t.c.Reconfig(), t.c.Reconfig().Joining().Leaving(), t.c.Reconfig().FromConfig(1), t.c.Reconfig().WithNewMembers(),
		} {
			t.refused(empty)
		}
		// It is not repeated: it might have been done.
		t.network.On(jute.OpReconfig, suite.CutAfter, nil)
		_, err := t.c.Reconfig().Leaving("2").ForEnsemble(t.Context())
		if t.want(err, framework.ErrConnectionLoss); !framework.MaybeApplied(err) {
			t.Fatal(err)
		}
	},
	"Reconfig/Joining":        func(t bench) { t.refused(t.c.Reconfig().Joining("server.1=a:1:2;3")) },
	"Reconfig/Leaving":        func(t bench) { t.refused(t.c.Reconfig().Leaving("1", "2")) },
	"Reconfig/WithNewMembers": func(t bench) { t.refused(t.c.Reconfig().WithNewMembers("server.1=a:1:2;3")) },
	"Reconfig/FromConfig": func(t bench) {
		t.refused(t.c.Reconfig().Leaving("1").FromConfig(0))
		_, err := t.c.Reconfig().Leaving("1").FromConfig(-2).ForEnsemble(t.Context())
		t.want(err, framework.ErrInvalidBuilder)
	},
	"Reconfig/StoringStatIn": func(t bench) {
		stat := framework.Stat{Version: 7}
		t.refused(t.c.Reconfig().Leaving("1").StoringStatIn(&stat))
		if stat.Version != 7 {
			t.Fatalf("%+v", stat)
		}
	},
}

// refused shows that a change refused by the server.
func (t bench) refused(b framework.ReconfigBuilder) {
	t.Helper()
	before := t.network.Requests(jute.OpReconfig)
	_, err := b.ForEnsemble(t.Context())
	if t.want(err, framework.ErrReconfigDisabled); framework.Retryable(err) || framework.MaybeApplied(err) {
		t.Fatal(err)
	}
	if n := t.network.Requests(jute.OpReconfig) - before; n != 1 {
		t.Fatalf("%d requests", n)
	}
}

// testGetConfigWatcher watches the configuration, which is in no namespace, through clients whose
// namespace or chroot is, or begins as, the directory it is in.
func testGetConfigWatcher(t bench) {
	rooted, network := t.b.ClientAt(t.T, "/zookeeper")
	beginning, other := t.b.ClientAt(t.T, "/zoo")
	for name, x := range map[string]struct {
		c       *framework.Client
		network *suite.Network
	}{
		"namespace":                  {t.c.UsingNamespace("any"), t.network},
		"its directory":              {t.c.UsingNamespace("zookeeper"), t.network},
		"a beginning":                {t.c.UsingNamespace("zoo"), t.network},
		"its directory as chroot":    {rooted, network},
		"a beginning as chroot":      {beginning, other},
		"chroot and namespace alike": {rooted.UsingNamespace("config"), network},
	} {
		w, events := watch()
		for _, what := range []framework.EventType{framework.WatchReset, framework.DataWatchRemoved} {
			_, err := x.c.GetConfig().UsingWatcher(w).ForEnsemble(t.Context())
			t.ok(err)
			if what == framework.WatchReset {
				x.network.Cut()
			} else {
				t.ok(x.c.Watches().Remove().ForPath(t.Context(), "/zookeeper/config", w))
			}
			if e := <-events; e.Type != what || e.Path != "/zookeeper/config" {
				t.Fatalf("%s: event %+v, want %d", name, e, what)
			}
		}
	}
}
