package tree

import (
	"github.com/go-curator/curator/internal/jute"
)

// restoring puts back the watch of one kind on a path.
type restoring func(path string)

// setWatches does setWatches: it puts one-shot watches back.
func setWatches(r *request) (Body, jute.Code) {
	body := r.body.Rest()
	req, code := decode[jute.SetWatches](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	return nil, restore(body, r.restoringOneShot(req.RelativeZxid))
}

// setWatches2 does setWatches2: it puts watches of every kind back.
func setWatches2(r *request) (Body, jute.Code) {
	body := r.body.Rest()
	req, code := decode[jute.SetWatches2](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	return nil, restore(body, append(r.restoringOneShot(req.RelativeZxid),
		func(path string) { r.watch(path, lasting) },
		func(path string) { r.watch(path, lastingBelow) },
	))
}

// restore puts back what the lists of a setWatches name, one list for each kind. At a list
// that is null ZooKeeper stops, and reports an error, with what it has done until then.
func restore(body []byte, kinds []restoring) jute.Code {
	d := jute.NewDecoder(body)
	d.Int64() // the zxid
	for _, put := range kinds {
		length := d.Int32()
		if length < 0 {
			return jute.CodeMarshallingError
		}
		for range length {
			put(d.String())
		}
	}
	return jute.CodeOK
}

// restoringOneShot puts one-shot watches back, on data, on what is not there, and on
// children. It leaves out those that would have fired since the zxid that the client has
// seen last, and tells it of these at once.
func (r *request) restoringOneShot(seen int64) []restoring {
	st := r.state
	return []restoring{
		func(path string) {
			switch n := st.nodes.get(path); {
			case n == nil:
				r.client.Notify(jute.EventNodeDeleted, path, noZxid)
			case n.mzxid > seen:
				r.client.Notify(jute.EventNodeDataChanged, path, noZxid)
			default:
				st.data.add(path, r.client, oneShot)
			}
		},
		func(path string) {
			if st.nodes.get(path) != nil {
				r.client.Notify(jute.EventNodeCreated, path, noZxid)
			} else {
				st.data.add(path, r.client, oneShot)
			}
		},
		func(path string) {
			switch n := st.nodes.get(path); {
			case n == nil:
				r.client.Notify(jute.EventNodeDeleted, path, noZxid)
			case n.pzxid > seen:
				r.client.Notify(jute.EventNodeChildrenChanged, path, noZxid)
			default:
				st.children.add(path, r.client, oneShot)
			}
		},
	}
}

// watch sets a persistent watch, which is one on data and one on children. In 3.9 a recursive one is only
// on data.
func (r *request) watch(path string, mode watchModes) {
	r.state.data.add(path, r.client, mode)
	if mode == lasting || !r.state.release.hasModes() {
		r.state.children.add(path, r.client, mode)
	}
}

// addWatch does addWatch.
func addWatch(r *request) (Body, jute.Code) {
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

// watches are those of the modes in a table.
type watches struct {
	table *watchTable
	modes watchModes
}

// watchesOf returns where watches of a type are, nil if there is no such type.
func (r *request) watchesOf(watcherType int32) []watches {
	data, children, one := &r.state.data, &r.state.children, anyMode
	if r.state.release.hasModes() {
		one = oneShot
	} else if watcherType > jute.WatcherAny {
		return nil
	}
	switch watcherType {
	case jute.WatcherChildren:
		return []watches{{children, one}}
	case jute.WatcherData:
		return []watches{{data, one}}
	case jute.WatcherAny:
		return []watches{{children, anyMode}, {data, anyMode}}
	case jute.WatcherPersistent:
		return []watches{{children, lasting}, {data, lasting}}
	case jute.WatcherPersistentRecursive:
		return []watches{{data, lastingBelow}}
	default:
		return nil
	}
}

// checkWatches does checkWatches.
func checkWatches(r *request) (Body, jute.Code) {
	return r.eachWatch(func(w watches, path string) jute.Code {
		if r.state.release.hasModes() {
			return w.table.has(path, r.client, w.modes)
		}
		return w.table.find(path)
	})
}

// removeWatches does removeWatches.
func removeWatches(r *request) (Body, jute.Code) {
	return r.eachWatch(func(w watches, path string) jute.Code { return w.table.remove(path, r.client, w.modes) })
}

// eachWatch calls do for the watches that a request names. It fails with NoWatcher if that
// is what each of them does.
func (r *request) eachWatch(do func(w watches, path string) jute.Code) (Body, jute.Code) {
	req, code := decode[jute.WatchesRequest](r.body)
	if code != jute.CodeOK {
		return nil, code
	}
	named := r.watchesOf(req.Type)
	if named == nil {
		return nil, jute.CodeMarshallingError
	}
	result := jute.CodeNoWatcher
	for _, w := range named {
		switch code := do(w, req.Path); code {
		case jute.CodeOK:
			result = code
		case jute.CodeNoWatcher:
		default:
			return nil, code
		}
	}
	return nil, result
}
