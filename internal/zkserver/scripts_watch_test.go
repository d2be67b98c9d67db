package zkserver_test

import (
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

var watchScripts = []script{
	{"one-shot watches", []step{
		connecting(0), connecting(1),
		watchExists(1, "/watch"), watchData(1, "/watch"), watchChildren(1, "/watch"), watchChildren(1, "/"),
		create(0, "/watch"), create(0, "/watch/x"),
		watchExists(1, "/watch"), set(0, "/watch", "1", -1), set(0, "/watch", "2", -1),
		watchData(1, "/watch"), watchData(0, "/watch"), set(0, "/watch", "1", -1),
		watchChildren(1, "/watch"), create(0, "/watch/y"), create(0, "/watch/z"),
		watchChildren(1, "/watch"), read(1, jute.OpGetChildren2, "/watch", true), remove(0, "/watch/z", -1),
		watchChildren(1, "/watch"), set(0, "/watch/y", "", -1), set(0, "/watch", "", -1), remove(0, "/watch/y", -1),
		watchExists(1, "/watch"), watchData(1, "/watch"), watchChildren(1, "/watch"), watchChildren(1, "/"), remove(0, "/watch/x", -1),
		remove(0, "/watch", -1),
		watchExists(1, "/watch"), watchExists(0, "/watch"), create(0, "/watch"), setACL(0, "/watch", -1, openACL...),
		watchData(0, "/watch"), setACL(0, "/watch", -1, openACL...), set(0, "/watch", "", 9), set(0, "/watch", "", -1),
		watchChildren(0, "/watch"), watchExists(0, "/watch"), remove(0, "/watch", -1),
	}},
	{"watches of a session that ends", []step{
		connecting(0), connecting(1), connecting(2),
		create(0, "/ending"), create2(0, "/ending/e", "", 1), create2(0, "/ending/f", "", 1),
		watchExists(1, "/ending/e"), watchChildren(1, "/ending"), watchExists(0, "/ending/e"), watchData(0, "/ending/e"), watchChildren(0, "/ending"),
		remove(0, "/ending/f", -1), watchChildren(1, "/ending"),
		dropping(2),
		ending(0, jute.OpClose, nil),
		children(1, "/ending"), exists(1, "/ending/e"),
	}},
	{"checkWatches and removeWatches", []step{
		connecting(0), connecting(1),
		create(0, "/unwatch"), watchData(0, "/unwatch"), watchChildren(0, "/unwatch"), watchData(1, "/unwatch"),
		watches(0, jute.OpCheckWatches, "/unwatch", 1), watches(0, jute.OpCheckWatches, "/unwatch", 2), watches(0, jute.OpCheckWatches, "/unwatch", 3),
		watches(1, jute.OpCheckWatches, "/unwatch", 1), watches(1, jute.OpCheckWatches, "/unwatch", 2),
		watches(0, jute.OpCheckWatches, "/none", 3), watches(0, jute.OpCheckWatches, "/unwatch", 4), watches(0, jute.OpCheckWatches, "/unwatch", 0),
		watches(0, jute.OpCheckWatches, "/unwatch", 9), watches(0, jute.OpRemoveWatches, "/unwatch", 9),
		watches(0, jute.OpRemoveWatches, "/none", 3), watches(1, jute.OpRemoveWatches, "/unwatch", 1),
		watches(0, jute.OpRemoveWatches, "/unwatch", 2), watches(0, jute.OpRemoveWatches, "/unwatch", 2), set(0, "/unwatch", "", -1),
		create(0, "/unwatch/a"), watchChildren(0, "/unwatch"), watchExists(0, "/unwatch"), watches(0, jute.OpRemoveWatches, "/unwatch", 3),
		watches(0, jute.OpRemoveWatches, "/unwatch", 3), create(0, "/unwatch/b"),
		addWatch(0, "/unwatch", 0), watches(0, jute.OpRemoveWatches, "/unwatch", 1), set(0, "/unwatch", "", -1), create(0, "/unwatch/c"),
		watches(0, jute.OpRemoveWatches, "/unwatch", 2), set(0, "/unwatch", "", -1),
		addWatch(0, "/unwatch", 1), watches(0, jute.OpCheckWatches, "/unwatch/below", 3), watches(0, jute.OpCheckWatches, "/unwatch", 1),
		watches(0, jute.OpRemoveWatches, "/unwatch", 1), set(0, "/unwatch/a", "", -1), watches(0, jute.OpRemoveWatches, "/unwatch", 3), set(0, "/unwatch/a", "", -1),
		watches(0, jute.OpRemoveWatches, "/unwatch", 3),
	}},
	{"checkWatches on what is no path", []step{
		connecting(0), connecting(1),
		watchExists(0, "no/path"), watchExists(0, "nopath"), watchExists(0, ""), watchExists(0, "//"),
		checkAll(0, "no/path"), checkAll(0, "none/none"), checkAll(0, "nopath"), checkAll(0, "none"), checkAll(0, ""), checkAll(0, "//"), checkAll(0, "/"),
		addWatch(1, "/somewhere", 1),
		checkAll(0, "no/path"), checkAll(0, "none/none"), checkAll(0, "nopath"), checkAll(0, "none"), checkAll(0, ""), checkAll(0, "//"), checkAll(0, "/"),
	}},
}

// checkAll has client i check whether there are watches of any type on a path.
func checkAll(i int, path string) step {
	return func(p *player) {
		for kind := range int32(4) {
			watches(i, jute.OpCheckWatches, path, kind)(p)
		}
	}
}

var persistentScripts = []script{
	{"persistent watches", []step{
		connecting(0), connecting(1),
		addWatch(1, "/persistent", 0), addWatch(1, "/persistent", 2), addWatch(1, "/persistent", -1),
		create(0, "/persistent"), set(0, "/persistent", "", -1), set(0, "/persistent", "", -1), create(0, "/persistent/a"), create(0, "/persistent/a/b"),
		set(0, "/persistent/a", "", -1), remove(0, "/persistent/a/b", -1), remove(0, "/persistent/a", -1), remove(0, "/persistent", -1),
		create(0, "/persistent"), multi(0, written("/persistent", "1", -1), written("/persistent", "2", -1), created(1, "/persistent/x", 0), removed("/persistent/x", -1)),
	}},
	{"recursive watches", []step{
		connecting(0), connecting(1),
		addWatch(1, "/recursive", 1), create(0, "/recursive"), create(0, "/recursive/a"), create(0, "/recursive/a/b"),
		set(0, "/recursive/a/b", "", -1), set(0, "/recursive", "", -1), remove(0, "/recursive/a/b", -1), remove(0, "/recursive/a", -1),
		create(0, "/recursively"), watchData(1, "/recursive"), set(0, "/recursive", "", -1), set(0, "/recursive", "", -1),
		addWatch(1, "/", 1), create(0, "/recursive/b"), set(0, "/", "", -1),
		create2(1, "/recursive/c", "", 1), ending(1, jute.OpClose, nil), connecting(2), exists(2, "/recursive"),
	}},
	{"a watch replaces one of another kind", []step{
		connecting(0),
		create(0, "/replace"), addWatch(0, "/replace", 0), watchData(0, "/replace"), set(0, "/replace", "", -1), set(0, "/replace", "", -1),
		create(0, "/replace/a"), create(0, "/replace/b"), watchChildren(0, "/replace"), create(0, "/replace/c"), create(0, "/replace/d"),
		addWatch(0, "/replace", 1), watchChildren(0, "/replace"), create(0, "/replace/e"), set(0, "/replace/e", "", -1),
		watchExists(0, "/replace"), set(0, "/replace/e", "", -1), set(0, "/replace", "", -1), set(0, "/replace/e", "", -1),
		addWatch(0, "/replace", 0), addWatch(0, "/replace", 1), set(0, "/replace", "", -1), create(0, "/replace/f"),
		addWatch(0, "/replace", 0), set(0, "/replace", "", -1), create(0, "/replace/g"), set(0, "/replace/g", "", -1),
		watchData(0, "/replace"), addWatch(0, "/replace", 0), set(0, "/replace", "", -1), set(0, "/replace", "", -1),
	}},
}

// restoring puts watches back with setWatches, relative to the script's start.
func restoring(i int, zxid int64, data, exist, child []string) step {
	return func(p *player) {
		watches := jute.SetWatches{RelativeZxid: p.base + zxid, DataWatches: data, ExistWatches: exist, ChildWatches: child}
		shown := fmt.Sprintf("%+d, data %q, exist %q, child %q", zxid, data, exist, child)
		doing(i, jute.OpSetWatches, shownAs{&watches, shown})(p)
	}
}

// restoring2 puts watches back with setWatches2.
func restoring2(i int, zxid int64, watches jute.SetWatches2) step {
	return func(p *player) {
		shown := fmt.Sprintf("%+d, %+v", zxid, watches)
		watches := watches
		watches.RelativeZxid = p.base + zxid
		doing(i, jute.OpSetWatches2, shownAs{&watches, shown})(p)
	}
}

// shownAs is a body that a transcript shows in another way.
type shownAs struct {
	rawclient.Body
	text string
}

// String returns the text.
func (s shownAs) String() string { return s.text }

var restoreScripts = []script{
	{"setWatches", []step{
		connecting(0), connecting(1),
		create(0, "/restore"), create(0, "/restore/a"), set(0, "/restore", "", -1), // +3 to +5
		restoring(1, 5, []string{"/restore", "/none"}, []string{"/restore/a", "/restore/none"}, []string{"/restore", "/none"}),
		set(0, "/restore", "", -1), create(0, "/restore/none"),
		restoring(1, 5, []string{"/restore", "/restore/a"}, nil, []string{"/restore", "/restore/a"}),
		set(0, "/restore/a", "", -1), create(0, "/restore/a/b"),
		restoring(1, 1000, []string{"/restore"}, []string{"bad path"}, []string{"/restore"}), set(0, "/restore", "", -1), set(0, "/restore", "", -1),
		restoring(1, -1000, []string{"/restore"}, nil, []string{"/restore"}), set(0, "/restore", "", -1),
	}},
	{"setWatches2", []step{
		connecting(0), connecting(1),
		create(0, "/restore2"), create(0, "/restore2/a"),
		restoring2(1, 4, jute.SetWatches2{
			DataWatches: []string{"/restore2"}, ExistWatches: []string{"/restore2/none"}, ChildWatches: []string{"/restore2/a"},
			PersistentWatches: []string{"/restore2", "/restore2/p"}, PersistentRecursiveWatches: []string{"/restore2/r"},
		}),
		set(0, "/restore2", "", -1), set(0, "/restore2", "", -1), create(0, "/restore2/none"), create(0, "/restore2/p"), create(0, "/restore2/p/a"),
		create(0, "/restore2/r"), create(0, "/restore2/r/a"), create(0, "/restore2/r/a/b"), create(0, "/restore2/a/b"),
	}},
	{"watches end with the connection", []step{
		connecting(0), connecting(1),
		create(0, "/lost"), watchData(1, "/lost"), addWatch(1, "/lost", 0), addWatch(1, "/", 1),
		connectingWith(1, "its session", resuming(1)),
		set(0, "/lost", "", -1), create(0, "/lost/a"),
		watchData(1, "/lost"), set(0, "/lost", "", -1),
	}},
}
