package zkserver_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver"
)

// quota has client i put limits on a path, as zkCli's setquota does: with statistics that the
// server corrects.
func quota(i int, path, limits string) step {
	return func(p *player) {
		for _, s := range []step{
			create(i, "/zookeeper/quota"+path),
			create2(i, limitsOf(path), limits, 0), create2(i, statsOf(path), "count=1,bytes=0", 0), get(i, statsOf(path)),
		} {
			s(p)
		}
	}
}

func limitsOf(path string) string { return "/zookeeper/quota" + path + "/zookeeper_limits" }
func statsOf(path string) string  { return "/zookeeper/quota" + path + "/zookeeper_stats" }

var quotaScripts = []script{
	{"quotas that are exceeded", []step{
		connecting(0), connecting(1),
		create2(0, "/quota", "12345", 0), create2(0, "/quota/a", "xx", 0), quota(0, "/quota", "count=2,bytes=8"),
		watchData(1, statsOf("/quota")),
		create2(0, "/quota/b", "yy", 0), get(0, statsOf("/quota")), set(0, "/quota/b", "yyyyyyyyyy", -1), get(0, statsOf("/quota")),
		set(0, "/quota", "", -1), doing(0, jute.OpSetData, &jute.SetDataRequest{Path: "/quota/b", Version: -1}), get(0, statsOf("/quota")),
		remove(0, "/quota/a", -1), get(0, statsOf("/quota")), remove(0, "/quota/none", -1), create(0, "/quota/b"), get(0, statsOf("/quota")),
		create(0, "/quota2"), get(0, statsOf("/quota")), // it is not below /quota
		create2(1, "/quota/e", "eee", jute.FlagEphemeral), create2(1, "/quota/s-", "s", jute.FlagEphemeral|jute.FlagSequential), get(0, statsOf("/quota")),
		ending(1, jute.OpClose, nil), get(0, statsOf("/quota")),
		doing(0, jute.OpCreateContainer, newNode("/quota/k", "container", jute.FlagContainer)),
		doing(0, jute.OpCreateTTL, newTTL("/quota/t", jute.FlagTTL, 60_000)), get(0, statsOf("/quota")),
		set(0, limitsOf("/quota"), "count=-1,bytes=-1;byteHardLimit=3;countHardLimit=1", -1), create2(0, "/quota/h", "hhhh", 0), get(0, statsOf("/quota")),
	}},
	{"quotas and multis", []step{
		connecting(0),
		create(0, "/quota3"), quota(0, "/quota3", "count=3,bytes=100"),
		multi(0, created(1, "/quota3/a", 0), written("/quota3", "xyz", -1), checked("/none", -1)), get(0, statsOf("/quota3")),
		multi(0, created(1, "/quota3/a", 0), written("/quota3", "xyz", -1), removed("/quota3/a", -1)), get(0, statsOf("/quota3")),
		multi(0, written("/quota3", "longer", -1), checked("/none", -1)), get(0, statsOf("/quota3")),
		multi(0, removed(limitsOf("/quota3"), -1), created(1, "/quota3/b", 0), checked("/none", -1)), create(0, "/quota3/c"), get(0, statsOf("/quota3")),
		multi(0, removed(statsOf("/quota3"), -1), created(1, statsOf("/quota3"), 0), created(1, "/quota3/d", 0), checked("/none", -1)), get(0, statsOf("/quota3")),
		multi(0, removed(statsOf("/quota3"), -1), created(15, statsOf("/quota3"), 0), created(1, "/quota3/d", 0)), get(0, statsOf("/quota3")),
	}},
	{"quotas in parts", []step{
		connecting(0),
		create(0, "/quota4"), quota(0, "/quota4", "count=1,bytes=-1"),
		create2(0, "/quota4/in", "inner", 0), quota(0, "/quota4/in", "count=-1,bytes=3"),
		create2(0, "/quota4/in/a", "a", 0), get(0, statsOf("/quota4")), get(0, statsOf("/quota4/in")), // the nearest one counts
		set(0, "/quota4/in", "", -1), get(0, statsOf("/quota4/in")),
		remove(0, limitsOf("/quota4/in"), -1), create(0, "/quota4/in/b"), get(0, statsOf("/quota4")), get(0, statsOf("/quota4/in")),
		set(0, statsOf("/quota4"), "count=70,bytes=7", -1), create(0, "/quota4/in/c"), get(0, statsOf("/quota4")),
		remove(0, statsOf("/quota4"), -1), create(0, "/quota4/d"), create2(0, statsOf("/quota4"), "whatever", 0), get(0, statsOf("/quota4")),
		quota(0, "/quota-of-nothing", "count=1,bytes=1"), create2(0, "/quota-of-nothing", "x", 0), get(0, statsOf("/quota-of-nothing")),
		create2(0, "/zookeeper/quota/zookeeper_stats", "", 0), get(0, "/zookeeper/quota/zookeeper_stats"), remove(0, "/zookeeper/quota/zookeeper_stats", -1),
		quota(0, "/zookeeper", "count=1,bytes=1"), create(0, "/zookeeper/quota/x"), get(0, statsOf("/zookeeper")),
	}},
}

// TestQuotaIsLogged exceeds a quota: it is done, and the log says so, once.
func TestQuotaIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := zkserver.New(zkserver.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		l := newFailingListener()
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		c := l.connect(t)
		for _, n := range []*jute.CreateRequest{
			newNode("/a", "", 0), newNode("/zookeeper/quota/a", "", 0), newNode(limitsOf("/a"), "count=2,bytes=-1", 0),
			newNode(statsOf("/a"), "", 0), newNode("/a/b", "", 0), newNode("/a/c", "", 0), newNode("/a/d", "", 0),
		} {
			do(t, c, jute.OpCreate, n)
		}
		if code := s.Create("/a/e", nil); code != jute.CodeOK {
			t.Errorf("create: code %d", code)
		}
		pass(time.Second)
		const want = `msg="quota exceeded, and not enforced" path=/a limit=count used=3 max=2`
		if said := log.String(); strings.Count(said, "quota exceeded") != 1 || !strings.Contains(said, want) {
			t.Errorf("log:\n%s", said)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-served
		c.Conn.Close()
	})
}
