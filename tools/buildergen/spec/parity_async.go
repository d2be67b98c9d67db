package spec

// async is the part of the table about the rest of the module curator-x-async.
var async = []Section{
	{Title: "curator-x-async: AsyncCuratorFramework", Rows: []Parity{
		{"AsyncCuratorFramework.wrap; unwrap; with", "", Needless, "every operation takes a context and may be called on any goroutine; what is to go on at the same time runs on one each, or in `Client.Batch`"},
		{"AsyncCuratorFramework.create; delete; checkExists; getData; setData; getChildren; getACL; setACL; sync; getConfig; reconfig; watch; removeWatches; addWatch", "Client.Create, Client.Delete, Client.CheckExists, Client.GetData, Client.SetData, Client.GetChildren, Client.GetACL, Client.SetACL, Client.Sync, Client.GetConfig, Client.Reconfig", "", "the same builders; InBackground passes the result to a listener"},
		{"AsyncCuratorFramework.watched; AsyncStage.event; WatchMode.*", "NewWatcher", "", "UsingWatcher of the builder"},
		{"AsyncCuratorFramework.transaction; transactionOp", "Client.Transaction, Client.TransactionOp", "", ""},
		{"AsyncStage.*; AsyncResult.*; AsyncEventException.*", "", Needless, "results and errors are returned"},
		{"CreateOption.*; DeleteOption.*; ExistsOption.*", "", Needless, "steps of the builders"},
		{"AsyncWrappers.childrenWithData", "cache.NewPathChildrenCache, Client.ReadMany", "", "in few writes"},
		{"AsyncWrappers.asyncEnsure; asyncEnsureContainers", "paths.Mkdirs", "", ""},
		{"AsyncWrappers.lockAsync; lockAsyncIf; release; releaseAsync", "locks.Do, locks.TryDo", "", ""},
	}},
}
