package framework_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
)

// Every value reads the same with %v, %+v and in a failed test, alone and in a slice.
func TestTexts(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("", 3600))
	for _, tt := range []struct {
		value fmt.Stringer
		want  string
	}{
		{framework.Persistent, "PERSISTENT"},
		{framework.Ephemeral, "EPHEMERAL"},
		{framework.PersistentSequential, "PERSISTENT_SEQUENTIAL"},
		{framework.EphemeralSequential, "EPHEMERAL_SEQUENTIAL"},
		{framework.Container, "CONTAINER"},
		{framework.PersistentWithTTL, "PERSISTENT_WITH_TTL"},
		{framework.PersistentSequentialWithTTL, "PERSISTENT_SEQUENTIAL_WITH_TTL"},
		{framework.CreateMode(-1), "CreateMode(-1)"},

		{framework.NodeCreated, "NodeCreated"},
		{framework.NodeDeleted, "NodeDeleted"},
		{framework.NodeDataChanged, "NodeDataChanged"},
		{framework.NodeChildrenChanged, "NodeChildrenChanged"},
		{framework.WatchReset, "WatchReset"},
		{framework.DataWatchRemoved, "DataWatchRemoved"},
		{framework.ChildWatchRemoved, "ChildWatchRemoved"},
		{framework.PersistentWatchRemoved, "PersistentWatchRemoved"},
		{framework.EventType(0), "EventType(0)"},

		{framework.PersistentRecursive, "PERSISTENT_RECURSIVE"},
		{framework.PersistentWatch, "PERSISTENT"},
		{framework.AddWatchMode(2), "AddWatchMode(2)"},
		{framework.ReadData, "getData"}, {framework.ReadChildren, "getChildren"}, {framework.ReadStat, "exists"},
		{framework.ReadPart(0), "ReadPart(0)"},

		{framework.AnyWatcher, "Any"},
		{framework.DataWatcher, "Data"},
		{framework.ChildrenWatcher, "Children"},
		{framework.WatcherType(3), "WatcherType(3)"},

		{framework.Latent, "LATENT"},
		{framework.Started, "STARTED"},
		{framework.Stopped, "STOPPED"},
		{framework.ClientState(3), "ClientState(3)"},

		{framework.PermAll, "cdrwa"},
		{framework.PermCreate, "c"},
		{framework.PermDelete, "d"},
		{framework.PermRead, "r"},
		{framework.PermWrite, "w"},
		{framework.PermAdmin, "a"},
		{framework.PermWrite | framework.PermRead, "rw"},
		{framework.Perm(0), "-"},
		{framework.PermRead | 64, "r+0x40"},
		{framework.Perm(-1), "cdrwa+0xffffffe0"},

		{framework.OpenACLUnsafe()[0], "world:anyone:cdrwa"},
		{framework.CreatorAllACL()[0], "auth::cdrwa"},
		{framework.ACL{Perms: framework.PermRead, Scheme: "digest", ID: "me:hash="}, "digest:me:hash=:r"},
		{framework.ACL{Scheme: "x509", ID: "a\nb"}, `x509:"a\nb":-`},

		{framework.WatchedEvent{Type: framework.NodeDataChanged, Path: "/a b", Zxid: 42}, "NodeDataChanged /a b (zxid 0x2a)"},
		{framework.WatchedEvent{Type: framework.WatchReset, Path: "/a"}, "WatchReset /a"},
		{framework.WatchedEvent{}, "EventType(0) "},

		{framework.Stat{
			Czxid: 0x2a, Mzxid: 0x2b, Pzxid: 0x2c, Ctime: at, Mtime: at.Add(time.Second), Version: 1, Cversion: -2, Aversion: 3,
			EphemeralOwner: -1, DataLength: 5, NumChildren: 6,
		}, "czxid=0x2a mzxid=0x2b pzxid=0x2c ctime=2026-01-02T02:04:05.006Z mtime=2026-01-02T02:04:06.006Z version=1 cversion=-2 aversion=3 " +
			"ephemeralOwner=0xffffffffffffffff dataLength=5 numChildren=6"},
	} {
		suite.WantText(t, tt.value, tt.want)
	}
}

// A log in JSON has names, too, not numbers.
func TestLogValues(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{framework.EphemeralSequential, `"EPHEMERAL_SEQUENTIAL"`},
		{framework.NodeDeleted, `"NodeDeleted"`},
		{framework.PersistentWatch, `"PERSISTENT"`},
		{framework.DataWatcher, `"Data"`},
		{framework.Started, `"STARTED"`},
		{framework.PermRead | framework.PermWrite, `"rw"`},
		{framework.OpenACLUnsafe()[0], `"world:anyone:cdrwa"`},
		{framework.WatchedEvent{Type: framework.NodeCreated, Path: "/a", Zxid: 42}, `{"type":"NodeCreated","path":"/a","zxid":"0x2a"}`},
		{framework.WatchedEvent{Type: framework.WatchReset, Path: "/a"}, `{"type":"WatchReset","path":"/a"}`},
	} {
		suite.WantLogged(t, tt.value, tt.want)
	}
}
