import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.zookeeper.KeeperException;

/** Caches has the caches of one Peer, by their paths, and writes nodes; its thread uses it. */
final class Caches {
    private final CuratorFramework client;
    private final Map<String, Recorded> caches = new HashMap<>();

    Caches(CuratorFramework client) {
        this.client = client;
    }

    String run(String[] request) throws Exception {
        String path = request[3];
        switch (request[2]) {
            case "cacheStart": // returns when the cache is initialized
                caches.put(path, new Recorded(client, path));
                return "";
            case "cacheEvents": // what the cache was told since this was asked last
                return caches.get(path).take();
            case "cacheContents":
                return caches.get(path).cache.stream().map(Caches::text).sorted().collect(Collectors.joining(" "));
            case "cacheClose":
                caches.remove(path).cache.close();
                return "";
            case "nodePut": // the path and data
                try {
                    client.create().creatingParentsIfNeeded().forPath(path, request[4].getBytes(UTF_8));
                } catch (KeeperException.NodeExistsException e) {
                    client.setData().forPath(path, request[4].getBytes(UTF_8));
                }
                return "";
            case "nodeDelete":
                client.delete().deletingChildrenIfNeeded().forPath(path);
                return "";
            case "nodeReplace": // another node with this data, in one transaction
                client.transaction().forOperations(
                        client.transactionOp().delete().forPath(path),
                        client.transactionOp().create().forPath(path, request[4].getBytes(UTF_8)));
                return "";
            default:
                throw new IllegalArgumentException(request[2]);
        }
    }

    private static String text(ChildData node) {
        return node.getPath() + "=" + data(node);
    }

    private static String data(ChildData node) {
        return new String(node.getData(), UTF_8);
    }

    /** A cache, and what its listener is told. */
    private static final class Recorded {
        final CuratorCache cache;
        private final List<String> told = new ArrayList<>();

        Recorded(CuratorFramework client, String path) throws InterruptedException {
            cache = CuratorCache.build(client, path);
            CountDownLatch initialized = new CountDownLatch(1);
            cache.listenable().addListener(CuratorCacheListener.builder()
                    .forAll((type, old, now) -> tell(type + " " + (now == null ? old.getPath() : now.getPath()) + " "
                            + (old == null ? "" : data(old)) + ">" + (now == null ? "" : data(now))))
                    .forInitialized(initialized::countDown)
                    .build());
            cache.start();
            if (!initialized.await(1, TimeUnit.MINUTES)) {
                throw new IllegalStateException("not initialized");
            }
        }

        private synchronized void tell(String event) {
            told.add(event);
        }

        synchronized String take() {
            String all = String.join(";", told);
            told.clear();
            return all;
        }
    }
}
