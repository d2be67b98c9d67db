package peers_test

// ensembles are the classes of Curator's tests that start an ensemble of Curator's own, from ZooKeeper's jars: the
// embedded server has no part in them.
var ensembles = []string{
	"TestCuratorCacheConsistency", "TestInterProcessSemaphoreCluster", "TestLeaderLatchCluster", "TestLeaderSelectorCluster", "TestLongNetworkPartition",
	"TestPathChildrenCacheInCluster", "TestReadOnly", "TestReconfiguration", "TestWithCluster",
}

// noTests are classes whose names are those of classes with tests, and that have none themselves.
var noTests = []string{"TestCleanState", "TestEventOrdering", "TestInterProcessMutexBase", "TestQueueItem"}

const (
	sameJVM   = "the test puts a class of its own into ZooKeeper's server, which has to run in the same JVM"
	superUser = "the test writes /zookeeper/config as ZooKeeper's super user, and the embedded server has none"
)

// unsupported are the tests of Curator that fail on the embedded server, with the reason.
var unsupported = map[string]string{
	"TestCreate.testForbiddenAncestors":                                  "since ZooKeeper 3.8.4 and 3.9.2 a client needs the permission to read a node to ask whether it is there; the embedded server answers as 3.8.0 here",
	"TestFramework.testBackgroundConfigPathWithNamespace":                superUser,
	"TestWatcherRemovalManager.testEnsembleTracker":                      superUser,
	"TestLeaderSelectorEdges.createProtectedNodeInBackgroundTest":        sameJVM,
	"TestLeaderSelectorEdges.createProtectedNodeInBackgroundTestNoRetry": sameJVM,
	"TestLeaderSelectorEdges.flappingTest":                               sameJVM,
}

// chancy are the tests of Curator that may pass or fail, with the reason.
var chancy = map[string]string{
	"TestBoundedDistributedQueue.testMulti":                                    "the producers put more items than the bound before they learn of those that are there, because the embedded server answers at once; one that writes to a disk holds them up",
	"TestLeaderLatch.testResettingOfLeadershipAfterConcurrentLeadershipChange": "two threads of the test race, and one order fails, on Curator's own server, too",
}
