package spec

// nodes is the part of the table about packages recipes/nodes and recipes/watch.
var nodes = []Section{
	{Title: "Recipes: nodes", Rows: []Parity{
		{"PersistentNode.new", "nodes.NewPersistentNode", "", "useProtection is `nodes.WithProtection`, useParentCreation `nodes.WithoutParents`; a time to live is for `nodes.NewPersistentTTLNode`"},
		{"PersistentNode.start", "nodes.PersistentNode.Start, nodes.WithStartInBackground", "", "returns when the node is there, or what is wrong; with the option at once"},
		{"PersistentNode.waitForInitialCreate", "nodes.PersistentNode.Start", "", ""},
		{"PersistentNode.close", "nodes.PersistentNode.Close", "", "leaves an ephemeral node of another client alone"},
		{"PersistentNode.getListenable; PersistentNodeListener.nodeCreated", "nodes.PersistentNode.CreatedListenable", "", ""},
		{"PersistentNode.getActualPath", "nodes.PersistentNode.ActualPath", "", ""},
		{"PersistentNode.setData", "nodes.PersistentNode.SetData", "", "returns when the data is written; allowed before Start"},
		{"PersistentNode.getData", "nodes.PersistentNode.Data", "", ""},
		{"PersistentEphemeralNode.new; Mode.*", "nodes.NewPersistentNode", "", "deprecated in Java; the mode and `nodes.WithProtection`"},
		{"PersistentTtlNode.new", "nodes.NewPersistentTTLNode", "", "childNodeName and touchScheduleFactor are `nodes.WithTouch`; no executor"},
		{"PersistentTtlNode.start; waitForInitialCreate", "nodes.PersistentNode.Start", "", ""},
		{"PersistentTtlNode.close", "nodes.PersistentNode.Close", "", ""},
		{"PersistentTtlNode.setData", "nodes.PersistentNode.SetData", "", ""},
		{"PersistentTtlNode.getData", "nodes.PersistentNode.Data", "", ""},
		{"PersistentTtlNode.DEFAULT_CHILD_NODE_NAME; DEFAULT_TOUCH_SCHEDULE_FACTOR; DEFAULT_USE_PARENT_CREATION", "", Needless, "options have the same defaults"},
		{"GroupMember.new", "nodes.NewGroupMember", "", "the payload may be nil"},
		{"GroupMember.start", "nodes.GroupMember.Start, nodes.WithStartInBackground", "", "returns when the node is there and the others are known; with the option at once"},
		{"GroupMember.setThisData", "nodes.GroupMember.SetPayload", "", ""},
		{"GroupMember.close", "nodes.GroupMember.Close", "", ""},
		{"GroupMember.getCurrentMembers", "nodes.GroupMember.Members", "", "`nodes.GroupMember.Updates` follows them"},
		{"GroupMember.idFromPath", "paths.Node", "", ""},
	}},
	{Title: "Recipes: watch", Rows: []Parity{
		{"PersistentWatcher.new", "watch.NewPersistentWatcher", "", "a mode instead of recursive"},
		{"PersistentWatcher.start", "watch.PersistentWatcher.Start, watch.WithStartInBackground", "", "returns when the server has the watch; with the option at once"},
		{"PersistentWatcher.close", "watch.PersistentWatcher.Close", "", ""},
		{"PersistentWatcher.getListenable", "watch.PersistentWatcher.Listenable", "", "or `watch.PersistentWatcher.Events`, a loop"},
		{"PersistentWatcher.getResetListenable", "watch.PersistentWatcher.Listenable", "", "`WatchReset` is an event"},
	}},
}
