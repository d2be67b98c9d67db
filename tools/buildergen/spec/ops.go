package spec

// Steps that several operations have.
var (
	stat = Mod{Name: "StoringStatIn", Java: "storingStatIn", Field: "stat", Type: "*Stat",
		Doc: "sets stat to the node's Stat before the terminal returns nil; on an error stat is left alone. A builder with this step must not be used by two goroutines at once: they would write the same Stat."}
	watcher = Mod{Name: "UsingWatcher", Java: "usingWatcher", Field: "watcher", Type: "*Watcher",
		Doc: "sets a one-shot watch for watcher. The watch is set only when the call succeeds; it outlives ctx, which bounds the call, and ends when it fires or at Close. After a reconnect it fires with WatchReset."}
	version = Mod{Name: "WithVersion", Java: "withVersion", Field: "version", Type: "int32", Tx: true,
		Doc: "makes the operation fail with ErrBadVersion unless the node is at this version. The default is any version."}
	parents = Mod{Name: "CreatingParentsIfNeeded", Java: "creatingParentsIfNeeded", Field: "parents",
		Doc: "creates missing parents first, as persistent nodes. It excludes CreatingParentContainersIfNeeded."}
	containers = Mod{Name: "CreatingParentContainersIfNeeded", Java: "creatingParentContainersIfNeeded", Field: "containers",
		Doc: "creates missing parents first, as containers: the server removes them some time after their last child is gone."}
)

// Ops holds every operation.
var Ops = []Op{
	{
		Name: "Create", Java: "CreateBuilder", Result: "string", Tx: "CreateOp",
		Doc:     "makes a node.",
		Returns: "creates the node and returns its actual path, which differs from path for sequential and protected nodes and is relative to the client's namespace. Errors: ErrNodeExists, ErrNoNode (a parent is missing), ErrNoChildrenForEphemerals, ErrInvalidACL, ErrNoAuth, ErrTooLarge. A create whose reply was lost is not repeated, see MaybeApplied, unless it is made WithProtection.",
		Mods: []Mod{
			{Name: "WithMode", Java: "withMode", Field: "mode", Type: "CreateMode", Tx: true, Doc: "sets the kind of node. The default is Persistent."},
			{Name: "WithData", Java: "", Field: "data", Type: "[]byte", Tx: true,
				Doc: "sets the node's data; nil and empty both mean none. Without this step the client's default data is written, which is the local IP address as Java's is. data is not copied: leave it alone until the terminal returns. Java: the second argument of forPath."},
			parents, containers,
			{Name: "WithProtection", Java: "withProtection", Field: "protection",
				Doc: "puts an id into the node's name by which a create whose reply was lost finds its own node again, instead of making a second one or failing. What it may have left behind is removed in the background."},
			{Name: "WithACL", Java: "withACL", Field: "acl", Type: "...ACL", Tx: true, Doc: "sets the node's ACL, which must not be empty. The default opens the node to everyone."},
			{Name: "WithACLOnParents", Java: "withACL(list, true)", Field: "aclOnParents", Doc: "gives the ACL of WithACL to the parents that are created too."},
			stat,
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
			{Name: "DeletingChildrenIfNeeded", Java: "deletingChildrenIfNeeded", Field: "children", Doc: "removes the whole subtree. It is not atomic. A version given WithVersion is that of the node itself."},
			{Name: "Quietly", Java: "quietly, idempotent", Field: "quietly", Doc: "takes a missing node for success."},
		},
	},
	{
		Name: "CheckExists", Java: "ExistsBuilder", Result: "bool",
		Doc:     "asks whether a node exists.",
		Returns: "tells whether the node exists; a missing node is not an error. Java: forPath(p) != null.",
		Mods:    []Mod{stat, watcher},
	},
	{
		Name: "GetData", Java: "GetDataBuilder", Result: "[]byte",
		Doc:     "reads a node's data.",
		Returns: "returns the data. Errors: ErrNoNode, ErrNoAuth.",
		Mods:    []Mod{stat, watcher},
	},
	{
		Name: "SetData", Java: "SetDataBuilder", Result: "Stat", Tx: "SetDataOp",
		Doc:     "replaces a node's data.",
		Args:    []Arg{{"data", "[]byte", "data is required, and nil empties the node: unlike Java there is no form that overwrites it with the default data."}},
		Returns: "replaces the data and returns the new Stat. Errors: ErrNoNode, ErrBadVersion, ErrNoAuth, ErrTooLarge. A write whose reply was lost is not repeated, see MaybeApplied.",
		Mods:    []Mod{version},
	},
	{
		Name: "GetChildren", Java: "GetChildrenBuilder", Result: "[]string",
		Doc:     "lists the names of a node's children.",
		Returns: "returns the names, not paths, in no particular order. Errors: ErrNoNode, ErrNoAuth.",
		Mods:    []Mod{stat, watcher},
	},
	{
		Name: "Transaction", Java: "CuratorMultiTransaction", Result: "[]OpResult", Terminal: "ForOperations", NoPath: true,
		Args:    []Arg{{"ops", "...Op", "ops must have been made by this client or a view of it."}},
		Doc:     "commits several operations, all or none.",
		Returns: "commits ops in order and returns one result for each. When one fails none is applied and the error is an *OpError with the failing operation's name and path. A commit whose reply was lost is not repeated, see MaybeApplied.",
	},
}
