package zkserver_test

import (
	"github.com/go-curator/curator/internal/jute"
)

var (
	anyone  = jute.ID{Scheme: "world", ID: "anyone"}
	openACL = []jute.ACL{{Perms: jute.PermAll, ID: anyone}}
)

func acl(perms int32, scheme, id string) jute.ACL {
	return jute.ACL{Perms: perms, ID: jute.ID{Scheme: scheme, ID: id}}
}

func newNode(path, data string, flags int32) *jute.CreateRequest {
	return &jute.CreateRequest{Path: path, Data: []byte(data), ACL: openACL, Flags: flags}
}

func newTTL(path string, flags int32, ttl int64) *jute.CreateTTLRequest {
	return &jute.CreateTTLRequest{Path: path, Data: []byte{}, ACL: openACL, Flags: flags, TTL: ttl}
}

func create(i int, path string) step { return doing(i, jute.OpCreate, newNode(path, "", 0)) }

func createWith(i int, path string, acls ...jute.ACL) step {
	return doing(i, jute.OpCreate, &jute.CreateRequest{Path: path, Data: []byte{}, ACL: acls})
}

func create2(i int, path, data string, flags int32) step {
	return doing(i, jute.OpCreate2, newNode(path, data, flags))
}

func remove(i int, path string, version int32) step {
	return doing(i, jute.OpDelete, &jute.DeleteRequest{Path: path, Version: version})
}

func set(i int, path, data string, version int32) step {
	return doing(i, jute.OpSetData, &jute.SetDataRequest{Path: path, Data: []byte(data), Version: version})
}

func read(i int, op jute.Op, path string, watch bool) step {
	return doing(i, op, &jute.PathWatchRequest{Path: path, Watch: watch})
}

func exists(i int, path string) step   { return read(i, jute.OpExists, path, false) }
func get(i int, path string) step      { return read(i, jute.OpGetData, path, false) }
func children(i int, path string) step { return read(i, jute.OpGetChildren2, path, false) }

func watchExists(i int, path string) step   { return read(i, jute.OpExists, path, true) }
func watchData(i int, path string) step     { return read(i, jute.OpGetData, path, true) }
func watchChildren(i int, path string) step { return read(i, jute.OpGetChildren, path, true) }

func onPath(i int, op jute.Op, path string) step {
	return doing(i, op, &jute.PathRequest{Path: path})
}

func setACL(i int, path string, version int32, acls ...jute.ACL) step {
	return doing(i, jute.OpSetACL, &jute.SetACLRequest{Path: path, ACL: acls, Version: version})
}

func authenticate(i int, scheme, credentials string) step {
	return doing(i, jute.OpAuth, &jute.AuthPacket{Scheme: scheme, Auth: []byte(credentials)})
}

func addWatch(i int, path string, mode int32) step {
	return doing(i, jute.OpAddWatch, &jute.AddWatchRequest{Path: path, Mode: mode})
}

func watches(i int, op jute.Op, path string, kind int32) step {
	return doing(i, op, &jute.WatchesRequest{Path: path, Type: kind})
}

func multi(i int, ops ...multiOp) step { return doing(i, jute.OpMulti, multiBody(ops)) }

func checked(path string, version int32) multiOp {
	return multiOp{jute.OpCheck, &jute.CheckVersionRequest{Path: path, Version: version}}
}

func created(op jute.Op, path string, flags int32) multiOp {
	return multiOp{op, newNode(path, "", flags)}
}

func removed(path string, version int32) multiOp {
	return multiOp{jute.OpDelete, &jute.DeleteRequest{Path: path, Version: version}}
}

func reading(op jute.Op, path string, watch bool) multiOp {
	return multiOp{op, &jute.PathWatchRequest{Path: path, Watch: watch}}
}

func written(path, data string, version int32) multiOp {
	return multiOp{jute.OpSetData, &jute.SetDataRequest{Path: path, Data: []byte(data), Version: version}}
}

// allScripts are played on every server, in order: later ones find what earlier ones left.
func allScripts() []script {
	var all []script
	for _, scripts := range [][]script{
		systemScripts, createScripts, changeScripts, aclScripts, watchScripts, persistentScripts,
		restoreScripts, multiScripts, sessionScripts, oddScripts, quotaScripts,
	} {
		all = append(all, scripts...)
	}
	return all
}
