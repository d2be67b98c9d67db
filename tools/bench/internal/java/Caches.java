import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;

/** Caches has the workloads with caches. The nodes are those of the peer in Go. */
final class Caches {
    private static final int NODES_AT_ONCE = 1000;
    private static final int PARENTS = 100;
    private static final int FOLLOWED = 100;
    private static final int WRITES_AT_ONCE = 64;

    private Caches() {}

    private static void plant(CuratorFramework client, String path, int n) throws Exception {
        if (client.checkExists().forPath(path) != null) {
            return;
        }
        client.create().creatingParentsIfNeeded().forPath(path, new byte[0]);
        List<CuratorOp> ops = new ArrayList<>();
        for (int i = 1; i < n; i++) {
            String at = i <= PARENTS
                    ? String.format("%s/%02d", path, i)
                    : String.format("%s/%02d/%06d", path, i % PARENTS + 1, i);
            ops.add(client.transactionOp().create().forPath(at, "some data of a node".getBytes()));
            if (ops.size() == NODES_AT_ONCE || i == n - 1) {
                client.transaction().forOperations(ops);
                ops.clear();
            }
        }
    }

    /** Starts a cache of as many nodes as there are waiters. */
    static Result load(CuratorFramework client, Request r) throws Exception {
        plant(client, r.path, r.waiters);
        CountDownLatch initialized = new CountDownLatch(1);
        try (CuratorCache cache = CuratorCache.build(client, r.path)) {
            cache.listenable().addListener(CuratorCacheListener.builder().forInitialized(initialized::countDown).build());
            long begin = System.nanoTime();
            cache.start();
            if (!initialized.await(5, TimeUnit.MINUTES)) {
                throw new IllegalStateException("the cache was not initialized");
            }
            long took = System.nanoTime() - begin;
            if (cache.size() != r.waiters) {
                throw new IllegalStateException(cache.size() + " nodes in the cache of " + r.waiters);
            }
            return new Result(1, took, new long[] {took});
        }
    }

    /** One client writes as fast as it can while a cache of another follows. */
    static Result follow(CuratorFramework client, CuratorFramework writer, Request r) throws Exception {
        plant(writer, r.path, FOLLOWED + 1);
        List<Long> lags = new ArrayList<>();
        long[] newest = {-1};
        CountDownLatch initialized = new CountDownLatch(1);
        try (CuratorCache cache = CuratorCache.build(client, r.path)) {
            long begin = System.nanoTime();
            cache.listenable().addListener(CuratorCacheListener.builder()
                    .forChanges((before, after) -> {
                        long written = ByteBuffer.wrap(after.getData()).getLong();
                        long lag = System.nanoTime() - begin - written;
                        synchronized (lags) {
                            lags.add(lag);
                            newest[0] = Math.max(newest[0], written);
                            lags.notifyAll();
                        }
                    })
                    .forInitialized(initialized::countDown)
                    .build());
            cache.start();
            initialized.await();
            Semaphore room = new Semaphore(WRITES_AT_ONCE);
            int writes = 0;
            long last = -1;
            for (; System.nanoTime() - begin < r.durationNanos; ) {
                room.acquire();
                last = System.nanoTime() - begin;
                byte[] data = ByteBuffer.allocate(8).putLong(last).array();
                writer.setData()
                        .inBackground((c, event) -> room.release())
                        .forPath(String.format("%s/%02d", r.path, writes++ % FOLLOWED + 1), data);
            }
            room.acquire(WRITES_AT_ONCE);
            long elapsed = System.nanoTime() - begin;
            synchronized (lags) {
                while (newest[0] < last) { // Java cannot tell otherwise when the cache has everything
                    lags.wait();
                }
                return new Result(writes, elapsed, lags.stream().mapToLong(Long::longValue).toArray());
            }
        }
    }
}
