// Package spec is the table from which the fluent builders of package framework are
// generated.
//
// One rule decides where a setting goes: a required setting is an argument of the operation's
// last call (Args), every other setting is a step (Mods). So a call without a required argument
// does not compile, and a missing step has a documented default.
package spec

// Op is one operation of the client. For each the generator writes <name>_gen.go,
// which calls one function written by hand in <name>.go:
//
//	func (p createParams) do(ctx context.Context, c *Client, path string) (string, error)
//
// with Args after path and Result before error. The generator refuses an Op, Arg or Mod
// without Doc.
type Op struct {
	Name     string // Go name: the Client method and the builder's prefix
	Java     string // the interface in org.apache.curator.framework.api
	Event    string // the operation's name in errors and events; Name when empty
	Doc      string // completes "<Name>Builder ..."
	Terminal string // ForPath when empty; ForEnsemble, ForOperations
	NoPath   bool   // the terminal takes no path
	Args     []Arg  // the parameters of the terminal after the path
	Result   string // the type of the terminal's result before error; "" for none
	Returns  string // completes "ForPath ..."
	Entry    string // receiver type of the method that starts the chain; Client when empty
	Start    []Arg  // arguments of that method
	Tx       string // name of the builder for transactions; "" when there is none
	Mods     []Mod
}

// Arg is a required argument.
type Arg struct{ Name, Type, Doc string }

// Mod is one optional step; it sets one field of the parameters.
type Mod struct {
	Name  string // Go method
	Java  string // the Java method, "" if Java has none
	Field string // field of the parameters; a field with a type gets a second field that says it was
	//           given, so that WithVersion(0) is not "no version" and WithData(nil) not "default data"
	Param string // name of the argument in the documentation; Field when empty
	Type  string // "" makes the step a flag
	Doc   string // completes "<Name> ..."
	Tx    bool   // the step also exists inside a transaction
}

// as returns the step with another Java method as its counterpart.
func (m Mod) as(java string) Mod {
	m.Java = java
	return m
}

// Steps that several operations have.
var (
	stat = Mod{Name: "StoringStatIn", Java: "storingStatIn", Field: "stat", Type: "*Stat",
		Doc: "sets stat to the node's Stat before the last call of the chain returns nil; on an error stat does not change. Two goroutines must not use a builder with this step at the same time, because they would write the same Stat."}
	watcher = Mod{Name: "UsingWatcher", Java: "usingWatcher", Field: "watcher", Type: "*Watcher",
		Doc: "sets a one-shot watch for watcher. The watch is set only when the call succeeds; it outlives ctx, which bounds the call, and ends when it fires or at Close. After a reconnect it fires with WatchReset."}
	watched = Mod{Name: "Watched", Java: "watched", Field: "watched",
		Doc: "sets a one-shot watch as UsingWatcher does, whose event goes to the listeners of CuratorListenable. It excludes UsingWatcher."}
	version = Mod{Name: "WithVersion", Java: "withVersion", Field: "version", Type: "int32", Tx: true,
		Doc: "makes the operation fail with ErrBadVersion unless the node is at this version. The default is any version."}
	parents = Mod{Name: "CreatingParentsIfNeeded", Java: "creatingParentsIfNeeded", Field: "parents",
		Doc: "creates missing parents first, as persistent nodes. It excludes CreatingParentContainersIfNeeded."}
	compressed = Mod{Name: "Compressed", Java: "compressed", Field: "compressed", Tx: true,
		Doc: "sends the data through the client's compression provider."}
	uncompressed = Mod{Name: "Uncompressed", Java: "uncompressed", Field: "uncompressed", Tx: true,
		Doc: "sends the data as it is, although the client was made WithCompression."}
	containers = Mod{Name: "CreatingParentContainersIfNeeded", Java: "creatingParentContainersIfNeeded", Field: "containers",
		Doc: "creates missing parents first, as containers: the server removes them some time after their last child is gone."}
)

// Ops holds every operation.
var Ops = []Op{
	{
		Name: "Create", Java: "CreateBuilder", Result: "string", Tx: "CreateOp",
		Doc:     "makes a node.",
		Returns: "creates the node and returns its actual path, which differs from path for sequential and protected nodes and is relative to the client's namespace. Errors: ErrNodeExists, ErrNoNode (a parent is missing), ErrNoChildrenForEphemerals, ErrInvalidACL, ErrNoAuth, ErrTooLarge. A create whose reply was lost is not repeated, see MaybeApplied, unless it is made WithProtection, Idempotent or OrSetData.",
		Mods: []Mod{
			{Name: "WithMode", Java: "withMode", Field: "mode", Type: "CreateMode", Tx: true, Doc: "sets the kind of node. The default is Persistent."},
			{Name: "WithData", Java: "", Field: "data", Type: "[]byte", Tx: true,
				Doc: "sets the node's data; nil and empty both mean none. Without this step the client's default data is written, which is the local IP address as in Java. data is not copied: do not change it until the last call of the chain returns. Java: the second argument of forPath."},
			parents, containers,
			{Name: "WithProtection", Java: "withProtection", Field: "protection",
				Doc: "puts an id into the node's name by which a create whose reply was lost finds its own node again, instead of making a second one or failing. What it may have left behind is removed in the background."},
			{Name: "WithACL", Java: "withACL", Field: "acl", Type: "...ACL", Tx: true, Doc: "sets the node's ACL, which must not be empty. The default is the client's: that of WithDefaultACL, or of WithACLProvider; without them the node is open to everyone."},
			{Name: "WithACLOnParents", Java: "withACL(list, true)", Field: "aclOnParents", Doc: "gives the ACL of WithACL to the parents that are created too."},
			{Name: "WithTTL", Java: "withTtl", Field: "ttl", Type: "time.Duration", Tx: true,
				Doc: "sets the time to live, in whole milliseconds and up to 34 years, for the two modes with one: the server removes the node when it has had no children and was not written for so long. Servers need zookeeper.extendedTypesEnabled."},
			{Name: "OrSetData", Java: "orSetData", Field: "orSet",
				Doc: "sets the data of the node instead if it exists. It is not atomic: a node that comes and goes meanwhile is tried a few times. It excludes sequential modes and WithProtection."},
			{Name: "OrSetDataVersion", Java: "orSetData(version)", Field: "orSetVersion", Param: "version", Type: "int32",
				Doc: "is OrSetData for exactly this version of the node that exists: the call fails with ErrBadVersion otherwise."},
			{Name: "Idempotent", Java: "idempotent", Field: "idempotent",
				Doc: "lets the create be repeated after a lost reply: an existing node with the same data at version 0 is success. Another client may have made that node, unless it is ephemeral: then it must be of the present session. It excludes sequential modes and WithProtection."},
			stat, compressed, uncompressed,
		},
	},
	{
		Name: "Delete", Java: "DeleteBuilder", Tx: "DeleteOp",
		Doc:     "removes a node.",
		Returns: "removes the node. Errors: ErrNoNode, ErrNotEmpty, ErrBadVersion, ErrNoAuth. When a reply was lost and the node is gone afterwards, that is success.",
		Mods: []Mod{
			version,
			{Name: "Guaranteed", Java: "guaranteed", Field: "guaranteed",
				Doc: "keeps trying in the background, until the node is confirmed gone or the client is closed, when the call fails in a way that a retry may cure. The call still returns that failure; see MaybeApplied."},
			{Name: "DeletingChildrenIfNeeded", Java: "deletingChildrenIfNeeded", Field: "children", Doc: "removes the whole subtree. It is not atomic. Nodes of it that others delete meanwhile, including the node itself, are no error. A version given WithVersion is that of the node itself."},
			{Name: "Quietly", Java: "quietly, idempotent", Field: "quietly", Doc: "makes a missing node a success."},
		},
	},
	{
		Name: "CheckExists", Java: "ExistsBuilder", Event: "exists", Result: "bool",
		Doc:     "asks whether a node exists.",
		Returns: "tells whether the node exists; a missing node is not an error. Servers of ZooKeeper 3.8.4, 3.9.2 and later answer with ErrNoAuth if the node exists and the client may not read it; no watch is set then. On older servers no permission is needed. Java: forPath(p) != null.",
		Mods: []Mod{
			{Name: "CreatingParentsIfNeeded", Java: "creatingParentsIfNeeded", Field: "parents",
				Doc: "creates the node's missing parents first, as persistent nodes, not the node itself. It excludes CreatingParentContainersIfNeeded."},
			{Name: "CreatingParentContainersIfNeeded", Java: "creatingParentContainersIfNeeded", Field: "containers",
				Doc: "creates the node's missing parents first, as containers, not the node itself."},
			{Name: "WithACL", Java: "withACL", Field: "acl", Type: "...ACL", Doc: "sets the ACL of the parents that are created."},
			stat.as("forPath(path), which returns it"), watcher, watched,
		},
	},
	{
		Name: "GetData", Java: "GetDataBuilder", Result: "[]byte",
		Doc:     "reads a node's data.",
		Returns: "returns the data. Errors: ErrNoNode, ErrNoAuth.",
		Mods: []Mod{
			stat, watcher, watched,
			{Name: "Decompressed", Java: "decompressed", Field: "compressed", Doc: "passes the data through the client's compression provider. A read of what cannot be decompressed fails, and its watch stays set."},
			{Name: "Undecompressed", Java: "undecompressed", Field: "uncompressed", Doc: "returns the data as it is stored, although the client was made WithCompression."},
		},
	},
	{
		Name: "SetData", Java: "SetDataBuilder", Result: "Stat", Tx: "SetDataOp",
		Doc:     "replaces a node's data.",
		Args:    []Arg{{"data", "[]byte", "data is required, and nil empties the node: unlike Java there is no form that overwrites it with the default data."}},
		Returns: "replaces the data and returns the new Stat. Errors: ErrNoNode, ErrBadVersion, ErrNoAuth, ErrTooLarge. A write whose reply was lost is not repeated, see MaybeApplied, unless it is Idempotent.",
		Mods: []Mod{
			version,
			{Name: "Idempotent", Java: "idempotent", Field: "idempotent",
				Doc: "lets the write be repeated after a lost reply. With WithVersion, a node that has this data at the next version is success, although another client may have written it. Without WithVersion, a late repetition may overwrite a later write of another client."},
			compressed, uncompressed,
		},
	},
	{
		Name: "GetChildren", Java: "GetChildrenBuilder", Result: "[]string",
		Doc:     "lists the names of a node's children.",
		Returns: "returns the names, not paths, in no particular order. Errors: ErrNoNode, ErrNoAuth.",
		Mods:    []Mod{stat, watcher, watched},
	},
	{
		Name: "GetACL", Java: "GetACLBuilder", Result: "[]ACL",
		Doc:     "reads a node's ACL.",
		Returns: "returns the ACL. The ids of digests are masked unless the client may administer the node. Errors: ErrNoNode, ErrNoAuth.",
		Mods:    []Mod{stat},
	},
	{
		Name: "SetACL", Java: "SetACLBuilder", Result: "Stat",
		Doc:     "replaces a node's ACL.",
		Args:    []Arg{{"acl", "[]ACL", "acl must not be empty."}},
		Returns: "replaces the ACL and returns the new Stat. Errors: ErrNoNode, ErrBadVersion, ErrInvalidACL, ErrNoAuth. A write whose reply was lost is not repeated, see MaybeApplied.",
		Mods: []Mod{
			{Name: "WithVersion", Java: "withVersion", Field: "version", Type: "int32",
				Doc: "makes the operation fail with ErrBadVersion unless the ACL is at this version, Stat.Aversion. The default is any version."},
		},
	},
	{
		Name: "Sync", Java: "SyncBuilder",
		Doc:     "brings the server that the client is connected to up to date with the leader.",
		Returns: "returns when the server has every change that was committed when it asked the leader. The node need not exist. Another change may follow immediately.",
	},
	{
		Name: "Add", Java: "AddWatchBuilder", Event: "addWatch", Entry: "Watches",
		Doc:     "sets a persistent watch, which gets an event for every change.",
		Args:    []Arg{{"watcher", "*Watcher", "watcher gets the events. Setting the same watch of the same watcher again does nothing."}},
		Returns: "sets the watch. It does not end with ctx, but with Watches().Remove or Close. After every reconnect it is restored, and its watcher gets WatchReset. The node need not exist. Errors: ErrUnimplemented from servers before 3.6.",
		Mods: []Mod{
			{Name: "WithMode", Java: "withMode", Field: "mode", Type: "AddWatchMode", Doc: "sets the kind of watch. The default is PersistentRecursive."},
		},
	},
	{
		Name: "Remove", Java: "RemoveWatchesBuilder", Event: "removeWatches", Entry: "Watches",
		Doc:     "takes watches back.",
		Args:    []Arg{{"watcher", "*Watcher", "watcher's watches of the path are removed, one-shot and persistent ones; those of other watchers stay. nil stands for every watcher of this client, views included. Java: removeAll."}},
		Returns: "removes the watches. When it returns, with or without an error, the watchers get the event of the removal (DataWatchRemoved or a similar one) and no later events; the watcher's function may still be handling an earlier event. The server's watch is removed with the last watcher of a path. Errors: ErrNoWatcher, and the reason if the server did not answer; the server then forgets the watch with the connection.",
		Mods: []Mod{
			{Name: "OfType", Java: "ofType", Field: "kind", Param: "t", Type: "WatcherType", Doc: "restricts the removal to one type of one-shot watches. The default is AnyWatcher, which includes persistent ones."},
			{Name: "Guaranteed", Java: "guaranteed", Field: "guaranteed", Doc: "returns nil also if the server does not answer now: the removal continues in the background, or the watch ends with the connection. Java: guaranteed."},
			{Name: "Locally", Java: "locally", Field: "locally", Doc: "does not wait for the server, and needs no connection."},
			{Name: "Quietly", Java: "quietly", Field: "quietly", Doc: "makes a missing watch a success."},
		},
	},
	{
		Name: "GetConfig", Java: "GetConfigBuilder", Result: "[]byte", Terminal: "ForEnsemble", NoPath: true,
		Doc:     "reads the ensemble's dynamic configuration.",
		Returns: "returns the configuration, one server or its version in a line. Errors: ErrNoAuth.",
		Mods:    []Mod{stat, watcher, watched},
	},
	{
		Name: "Reconfig", Java: "ReconfigBuilder", Result: "[]byte", Terminal: "ForEnsemble", NoPath: true,
		Doc:     "changes the ensemble's members.",
		Returns: "applies the change and returns the new configuration. With empty lists the members stay, but the configuration still gets a new version; GetConfig changes nothing. The servers must have reconfigEnabled, and the client be a superuser or permitted by the ACL of /zookeeper/config. Errors: ErrNoAuth, ErrBadVersion, ErrReconfigDisabled, ErrReconfigInProgress, ErrNewConfigNoQuorum, ErrBadArguments. A change whose reply was lost is not repeated, see MaybeApplied.",
		Mods: []Mod{
			{Name: "Joining", Java: "joining", Field: "joining", Type: "...string", Doc: "adds or changes servers, each as in the configuration: server.4=zk4:2888:3888:participant;2181."},
			{Name: "Leaving", Java: "leaving", Field: "leaving", Type: "...string", Doc: "removes servers by their ids."},
			{Name: "WithNewMembers", Java: "withNewMembers", Field: "members", Type: "...string", Doc: "replaces the whole membership. It excludes Joining and Leaving."},
			{Name: "FromConfig", Java: "fromConfig", Field: "from", Param: "version", Type: "int64", Doc: "makes the change fail with ErrBadVersion unless the configuration has this version, in hexadecimal the last line of GetConfig's answer. The default is any."},
			stat,
		},
	},
	{
		Name: "Transaction", Java: "CuratorMultiTransaction", Event: "multi", Result: "[]OpResult", Terminal: "ForOperations", NoPath: true,
		Args:    []Arg{{"ops", "...Op", "ops must have been made by this client or a view of it."}},
		Doc:     "commits several operations, all or none.",
		Returns: "commits ops in order and returns one result for each. When one fails none is applied and the error is an *OpError with the failing operation's name and path; the results have the reason for each. A commit whose reply was lost is not repeated, see MaybeApplied, unless it is Idempotent.",
		Mods: []Mod{
			{Name: "Idempotent", Java: "", Field: "idempotent",
				Doc: "lets the commit be repeated after a lost reply. A create of a sequential node, and a delete or a setData without a version, are refused with ErrInvalidBuilder, and so is a transaction that could be applied again to what it leaves, such as a delete and a create of one node. Within retry.Do the call still repeats itself, by the client's policy. If the server refuses the repetition, the client reads the nodes. The commit has succeeded if all its changes are there, and one transaction has made them since the client's last answer before the call, and before the refusal; docs/guarantees.md has the conditions. Then the results are those of the lost reply, but a Stat of a setData has later children and ACLs in it, and there is none for a node that the transaction itself deletes. Otherwise the error is that of the refusal, MaybeApplied is true, Retryable is false, and the results are nil. Deletes alone prove nothing, and nothing is proved to a client that had no answer before. Another client's transaction with the same changes, applied in that time, is taken for this one: data that names the writer tells them apart. A change that another client has undone by then is made again. Java has no counterpart."},
		},
	},
	{
		Name: "Batch", Java: "none", Result: "[]OpResult", Terminal: "ForOperations", NoPath: true,
		Args:    []Arg{{"ops", "...Op", "ops must have been made by this client or a view of it."}},
		Doc:     "sends several operations, hundreds in one write; each succeeds or fails by itself.",
		Returns: "returns one result for each of ops, in order: look at every Err. They are applied in order, and others' writes may come between. If one of them is invalid or too large, nothing is sent. If the connection is lost or ctx ends after something was sent, there are results and an error, and MaybeApplied reports for each Err whether its operation may have been applied. It is not repeated then.",
	},
}
