package zkserver

import (
	"github.com/go-curator/curator/internal/jute"
)

// setWatches does setWatches: it puts one-shot watches back.
func setWatches(r *request) (encoder, jute.Code) {
	lists := vectors(r.body.Rest())
	req, code := decode[jute.SetWatches](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	return nil, r.restore(req.RelativeZxid, lists, req.DataWatches, req.ExistWatches, req.ChildWatches)
}

// setWatches2 does setWatches2: it puts watches of every kind back.
func setWatches2(r *request) (encoder, jute.Code) {
	lists := vectors(r.body.Rest())
	req, code := decode[jute.SetWatches2](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	code = r.restore(req.RelativeZxid, lists, req.DataWatches, req.ExistWatches, req.ChildWatches)
	if code != jute.CodeOK || lists < 4 {
		return nil, jute.CodeMarshallingError
	}
	for _, path := range req.PersistentWatches {
		r.watch(path, lasting)
	}
	if lists < 5 {
		return nil, jute.CodeMarshallingError
	}
	for _, path := range req.PersistentRecursiveWatches {
		r.watch(path, lastingBelow)
	}
	return nil, jute.CodeOK
}

// vectors returns how many of the lists of a setWatches come before the first one that is
// null. There ZooKeeper stops, with what it has done until then, and reports an error.
func vectors(body []byte) int {
	d := jute.NewDecoder(body)
	d.Int64()
	for n := 0; ; n++ {
		length := d.Int32()
		if length < 0 || d.Err() != nil {
			return n
		}
		for ; length > 0 && d.Err() == nil; length-- {
			d.Buffer()
		}
	}
}

// restore puts one-shot watches back, but for those that would have fired since the
// client's last zxid: it is told of these at once.
func (r *request) restore(seen int64, lists int, data, exist, children []string) jute.Code {
	st := r.store
	for _, path := range data {
		switch n := st.tree.get(path); {
		case n == nil:
			r.conn.notify(jute.EventNodeDeleted, path)
		case n.mzxid > seen:
			r.conn.notify(jute.EventNodeDataChanged, path)
		default:
			st.data.add(path, r.conn, oneShot)
		}
	}
	if lists < 2 {
		return jute.CodeMarshallingError
	}
	for _, path := range exist {
		if st.tree.get(path) != nil {
			r.conn.notify(jute.EventNodeCreated, path)
		} else {
			st.data.add(path, r.conn, oneShot)
		}
	}
	if lists < 3 {
		return jute.CodeMarshallingError
	}
	for _, path := range children {
		switch n := st.tree.get(path); {
		case n == nil:
			r.conn.notify(jute.EventNodeDeleted, path)
		case n.pzxid > seen:
			r.conn.notify(jute.EventNodeChildrenChanged, path)
		default:
			st.children.add(path, r.conn, oneShot)
		}
	}
	return jute.CodeOK
}

// watch sets a persistent watch, which is one on data and one on children.
func (r *request) watch(path string, mode watchMode) {
	r.store.data.add(path, r.conn, mode)
	r.store.children.add(path, r.conn, mode)
}

// addWatch does addWatch.
func addWatch(r *request) (encoder, jute.Code) {
	req, code := decode[jute.AddWatchRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	switch req.Mode {
	case jute.ModePersistent:
		r.watch(req.Path, lasting)
	case jute.ModePersistentRecursive:
		r.watch(req.Path, lastingBelow)
	default:
		return nil, jute.CodeMarshallingError
	}
	return &jute.ErrorResponse{}, jute.CodeOK
}

// watchTables returns the tables that a type of watch is in, none if there is no such type.
func (r *request) watchTables(watcherType int32) []*watchTable {
	switch watcherType {
	case jute.WatcherChildren:
		return []*watchTable{&r.store.children}
	case jute.WatcherData:
		return []*watchTable{&r.store.data}
	case jute.WatcherAny:
		return []*watchTable{&r.store.children, &r.store.data}
	default:
		return nil
	}
}

// checkWatches does checkWatches.
func checkWatches(r *request) (encoder, jute.Code) {
	return r.eachWatch(func(w *watchTable, path string) bool { return w.covers(path, r.conn) })
}

// removeWatches does removeWatches.
func removeWatches(r *request) (encoder, jute.Code) {
	return r.eachWatch(func(w *watchTable, path string) bool { return w.remove(path, r.conn) })
}

// eachWatch calls found for the tables that a request names, and fails with NoWatcher if
// it is false for each.
func (r *request) eachWatch(found func(w *watchTable, path string) bool) (encoder, jute.Code) {
	req, code := decode[jute.WatchesRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	tables := r.watchTables(req.Type)
	if tables == nil {
		return nil, jute.CodeMarshallingError
	}
	code = jute.CodeNoWatcher
	for _, table := range tables {
		if found(table, req.Path) {
			code = jute.CodeOK
		}
	}
	return nil, code
}
