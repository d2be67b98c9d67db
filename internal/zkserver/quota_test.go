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
