import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.transaction.CuratorTransactionResult;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.cache.NodeCache;
import org.apache.curator.framework.recipes.cache.PathChildrenCache;
import org.apache.curator.framework.recipes.cache.TreeCache;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** What Curator's framework and recipes do with a server. */
final class CuratorChecks {
    private final String connectString;
    private final String root;
    private final CuratorFramework client;

    CuratorChecks(String connectString, String root) {
        this.connectString = connectString;
        this.root = root;
        client = newClient();
    }

    private CuratorFramework newClient() {
        CuratorFramework client = CuratorFrameworkFactory.newClient(
                connectString, 30000, 15000, new ExponentialBackoffRetry(50, 10));
        client.start();
        return client;
    }

    void run() throws Exception {
        Checks.run("framework", this::framework);
        Checks.run("transaction", this::transaction);
        Checks.run("mutex", this::mutex);
        Checks.run("leader", this::leader);
        Checks.run("caches", this::caches);
        client.close();
    }

    private void framework() throws Exception {
        String node = root + "/framework/deep/node";
        client.create().creatingParentContainersIfNeeded().withMode(CreateMode.PERSISTENT).forPath(node, "1".getBytes(UTF_8));
        String protectedNode = client.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath(node + "/p-");
        Checks.same("protected", true, protectedNode.endsWith("-p-0000000000"));
        Stat stat = new Stat();
        client.create().withTtl(60000).withMode(CreateMode.PERSISTENT_WITH_TTL).forPath(node + "/ttl");
        Checks.same("data", "1", new String(client.getData().storingStatIn(stat).forPath(node), UTF_8));
        Checks.same("children", 2, stat.getNumChildren());
        Checks.same("set", 1, client.setData().withVersion(0).forPath(node, "2".getBytes(UTF_8)).getVersion());
        BlockingQueue<String> events = Checks.queue();
        client.watchers().add().usingWatcher((org.apache.zookeeper.Watcher) e -> events.add(e.getType() + " " + e.getPath())).forPath(root);
        client.delete().guaranteed().deletingChildrenIfNeeded().forPath(root + "/framework/deep");
        Checks.nextOf(events, "NodeDeleted " + protectedNode, "NodeDeleted " + node + "/ttl");
        Checks.next(events, "NodeDeleted " + node);
        client.watchers().removeAll().forPath(root);
    }

    private void transaction() throws Exception {
        String node = root + "/transaction";
        List<CuratorTransactionResult> results = client.transaction().forOperations(
                client.transactionOp().create().forPath(node, "1".getBytes(UTF_8)),
                client.transactionOp().create().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath(node + "/s-"),
                client.transactionOp().check().withVersion(0).forPath(node),
                client.transactionOp().setData().forPath(node, "2".getBytes(UTF_8)));
        Checks.same("created", node + "/s-0000000000", results.get(1).getResultPath());
        Checks.same("set", 1, results.get(3).getResultStat().getVersion());
        try {
            client.transaction().forOperations(
                    client.transactionOp().setData().forPath(node, "3".getBytes(UTF_8)),
                    client.transactionOp().check().withVersion(0).forPath(node));
            throw new AssertionError("a wrong check");
        } catch (KeeperException.BadVersionException e) {
            Checks.same("codes", Arrays.asList(0, KeeperException.Code.BADVERSION.intValue()),
                    e.getResults().stream().map(r -> ((org.apache.zookeeper.OpResult.ErrorResult) r).getErr()).collect(Collectors.toList()));
        }
        Checks.same("undone", "2", new String(client.getData().forPath(node), UTF_8));
    }

    /** A read and a write under the lock are one step. */
    private void mutex() throws Exception {
        String counter = root + "/counter";
        client.create().forPath(counter, "0".getBytes(UTF_8));
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Future<?>> contenders = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            contenders.add(threads.submit(() -> {
                try (CuratorFramework own = newClient()) {
                    InterProcessMutex mutex = new InterProcessMutex(own, root + "/mutex");
                    for (int round = 0; round < 10; round++) {
                        mutex.acquire();
                        int n = Integer.parseInt(new String(own.getData().forPath(counter), UTF_8));
                        own.setData().forPath(counter, Integer.toString(n + 1).getBytes(UTF_8));
                        mutex.release();
                    }
                }
                return null;
            }));
        }
        for (Future<?> contender : contenders) {
            contender.get(30, TimeUnit.SECONDS);
        }
        Checks.same("rounds", "40", new String(client.getData().forPath(counter), UTF_8));
        Stat lock = client.checkExists().forPath(root + "/mutex"); // a container, which may be gone by now
        Checks.same("left behind", 0, lock == null ? 0 : lock.getNumChildren());
    }

    private void leader() throws Exception {
        try (CuratorFramework other = newClient()) {
            LeaderLatch first = new LeaderLatch(client, root + "/latch", "first");
            LeaderLatch second = new LeaderLatch(other, root + "/latch", "second");
            first.start();
            first.await(20, TimeUnit.SECONDS);
            second.start();
            while (second.getParticipants().size() < 2) {
                TimeUnit.MILLISECONDS.sleep(5);
            }
            Checks.same("leader", "first", second.getLeader().getId());
            Checks.same("leads beside the first", false, second.hasLeadership());
            first.close();
            Checks.same("leads after the first", true, second.await(20, TimeUnit.SECONDS));
            second.close();
        }
    }

    /** Each of the caches follows a tree, over an outage too. */
    private void caches() throws Exception {
        String tree = root + "/tree";
        client.create().forPath(tree, "0".getBytes(UTF_8));
        client.create().forPath(tree + "/a", "0".getBytes(UTF_8));
        BlockingQueue<String> events = Checks.queue();
        // A one-shot watch takes the place of a lasting one of the same client, in ZooKeeper 3.8.0.
        try (CuratorFramework lasting = newClient();
                CuratorFramework oneShot = newClient();
                CuratorCache cache = CuratorCache.build(lasting, tree);
                TreeCache treeCache = new TreeCache(oneShot, tree);
                PathChildrenCache childrenCache = new PathChildrenCache(oneShot, tree, true);
                NodeCache nodeCache = new NodeCache(oneShot, tree + "/a")) {
            cache.listenable().addListener(CuratorCacheListener.builder()
                    .forCreates(node -> events.add("created " + node.getPath()))
                    .forChanges((before, node) -> events.add("changed " + node.getPath()))
                    .forDeletes(node -> events.add("deleted " + node.getPath()))
                    .forInitialized(() -> events.add("initialized"))
                    .build());
            cache.start();
            Checks.nextOf(events, "created " + tree, "created " + tree + "/a");
            Checks.next(events, "initialized");
            treeCache.start();
            childrenCache.start(PathChildrenCache.StartMode.BUILD_INITIAL_CACHE);
            nodeCache.start(true);
            List<Supplier<Stream<ChildData>>> views = Arrays.asList(
                    cache::stream,
                    () -> childrenOf(treeCache, tree),
                    () -> childrenCache.getCurrentData().stream());

            client.create().forPath(tree + "/b", "0".getBytes(UTF_8));
            client.create().forPath(tree + "/b/c", "0".getBytes(UTF_8));
            client.setData().forPath(tree + "/a", "1".getBytes(UTF_8));
            Checks.nextOf(events, "created " + tree + "/b", "created " + tree + "/b/c", "changed " + tree + "/a");
            client.delete().forPath(tree + "/b/c");
            Checks.next(events, "deleted " + tree + "/b/c");
            for (Supplier<Stream<ChildData>> view : views) {
                until("/a=1 /b=0", () -> below(tree, view.get()));
            }
            until("/a=1", () -> below(tree, Stream.of(nodeCache.getCurrentData())));

            Checks.outage("set", tree + "/a", "delete", tree + "/b", "create", tree + "/d");
            for (Supplier<Stream<ChildData>> view : views) {
                until("/a=changed /d=", () -> below(tree, view.get()));
            }
            until("/a=changed", () -> below(tree, Stream.of(nodeCache.getCurrentData())));
            client.setData().forPath(tree + "/d", "after".getBytes(UTF_8));
            client.delete().forPath(tree + "/a");
            for (Supplier<Stream<ChildData>> view : views) {
                until("/d=after", () -> below(tree, view.get()));
            }
            until("true", () -> "" + (nodeCache.getCurrentData() == null));
        }
    }

    private static Stream<ChildData> childrenOf(TreeCache cache, String path) {
        Map<String, ChildData> children = cache.getCurrentChildren(path);
        return children == null ? Stream.empty() : children.values().stream();
    }

    /** The nodes below path, with their data. */
    private static String below(String path, Stream<ChildData> nodes) {
        return nodes.filter(node -> !node.getPath().equals(path))
                .map(node -> node.getPath().substring(path.length()) + "=" + new String(node.getData(), UTF_8))
                .sorted().collect(Collectors.joining(" "));
    }

    /** Waits until it is so. */
    private static void until(String want, Supplier<String> now) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!now.get().equals(want) && System.nanoTime() < end) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
        Checks.same("a cache", want, now.get());
    }
}
