import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.retry.RetryOneTime;

/**
 * BenchPeer is the benchmark's peer for Java Curator: it runs the workloads of the protocol in
 * tools/bench/internal/protocol on the ZooKeeper servers that its argument names.
 */
public final class BenchPeer {
    private static final int SESSION_TIMEOUT_MS = 30_000;
    private static final int RETRY_PAUSE_MS = 100;
    private static final int QUEUE_PAUSE_MS = 10;

    private final String connectString;
    /** They stay connected. */
    private final List<CuratorFramework> clients = new ArrayList<>();
    /** Each holds a lock until the end. */
    private final List<CuratorFramework> holders = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    public static void main(String[] args) throws Exception {
        if (args.length != 1) {
            System.err.println("usage: BenchPeer CONNECTSTRING");
            System.exit(2);
        }
        // What else is printed must not get in between the answers.
        PrintStream answers = System.out;
        System.setOut(System.err);
        BenchPeer peer = new BenchPeer(args[0]);
        peer.take(1);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        answers.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            answers.println(peer.answer(line));
            answers.flush();
        }
        peer.close();
    }

    private BenchPeer(String connectString) {
        this.connectString = connectString;
    }

    private String answer(String line) {
        try {
            return run(new Request(line)).json();
        } catch (ExecutionException e) {
            return Result.error(e.getCause());
        } catch (Exception e) {
            return Result.error(e);
        }
    }

    private Result run(Request r) throws Exception {
        switch (r.workload) {
            case "solo":
                return repeat(r, 1, (client, i) -> Operation.mutex(client, r.path));
            case "contend":
                return repeat(r, r.clients, (client, i) -> Operation.mutex(client, r.path));
            case "spread":
                return repeat(r, r.clients, (client, i) -> Operation.mutex(client, r.path + "/" + i));
            case "semaphore":
                return repeat(r, r.clients, (client, i) -> Operation.semaphore(client, r.path, r.leases));
            case "readers":
                return repeat(r, r.clients, (client, i) -> Operation.of(new InterProcessReadWriteLock(client, r.path).readLock()));
            case "mix":
                return repeat(r, r.clients, (client, i) -> Operation.mix(client, r.path, r.writes));
            case "reentry":
                return repeat(r, 1, (client, i) -> Operation.reentry(new InterProcessMutex(client, r.path)));
            case "try-free":
                return repeat(r, 1, (client, i) -> Operation.tried(client, r.path, true));
            case "try-busy":
                InterProcessMutex busy = new InterProcessMutex(take(2).get(1), r.path);
                return repeat(r, 1, (client, i) -> Operation.under(busy, Operation.tried(client, r.path, false)));
            case "floor":
                take(1).get(0).create().orSetData().creatingParentsIfNeeded().forPath(r.path); // no container: it is empty at times
                return repeat(r, r.clients, (client, i) -> Operation.floor(client, r.path));
            case "atomic":
                return repeat(r, r.clients, (client, i) -> SharedOperations.increment(client, r.path));
            case "barrier":
                return SharedOperations.rounds(take(r.clients), threads, r);
            case "queue-put":
                try (DistributedQueue<String> queue = Queues.producer(take(1).get(0), r)) {
                    return repeat(r, 1, (client, i) -> () -> queue.put("item"));
                }
            case "queue-consume":
                return Queues.consume(take(1).get(0), r);
            case "group":
                return Groups.join(take(r.clients), threads, r);
            case "drain":
                return drain(r);
            case "leader-join":
                return repeat(r, 1, (client, i) -> Operation.latch(client, r.path));
            case "leader-succession":
                return succession(r);
            case "cache-load":
                return Caches.load(take(1).get(0), r);
            case "cache-follow":
                return Caches.follow(take(2).get(0), take(2).get(1), r);
            case "discovery-register":
                try (Discoveries registry = new Discoveries(take(1).get(0), r.path, 1)) {
                    return repeat(r, 1, (client, i) -> registry.register());
                }
            case "discovery-choose":
                try (Discoveries registry = new Discoveries(take(1).get(0), r.path, 10)) {
                    return repeat(r, 1, (client, i) -> registry.choose());
                }
            case "discovery-query":
                try (Discoveries registry = new Discoveries(take(1).get(0), r.path, r.waiters)) {
                    return repeat(r, 1, (client, i) -> registry.query(r.waiters));
                }
            case "hold":
                return hold(r);
            case "queued":
                awaitQueued(r.path, 2, List.of());
                return new Result(0, 0, new long[0]);
            case "wait":
                return await(r);
            default:
                throw new UnsupportedOperationException("unsupported workload");
        }
    }

    /** Maker makes the operation of client i. */
    private interface Maker {
        Operation make(CuratorFramework client, int i) throws Exception;
    }

    private Result repeat(Request r, int n, Maker maker) throws Exception {
        return repeat(r.warmupNanos, r.durationNanos, n, maker);
    }

    /** Has each client repeat its operation on a thread of its own, and counts after the warm-up. */
    private Result repeat(long warmupNanos, long durationNanos, int n, Maker maker) throws Exception {
        List<Operation> operations = new ArrayList<>();
        for (CuratorFramework client : take(n)) {
            operations.add(maker.make(client, operations.size()));
        }
        long begin = System.nanoTime() + warmupNanos;
        long end = begin + durationNanos;
        List<Callable<Latencies>> tasks = new ArrayList<>();
        for (Operation operation : operations) {
            tasks.add(() -> latencies(operation, begin, end, Result.MAX_LATENCIES / n));
        }
        long seen = 0;
        LongStream kept = LongStream.empty();
        for (Latencies one : together(tasks)) {
            seen += one.seen();
            kept = LongStream.concat(kept, one.kept());
        }
        return new Result(seen, durationNanos, kept.toArray());
    }

    private static Latencies latencies(Operation operation, long begin, long end, int room) throws Exception {
        Latencies latencies = new Latencies(room);
        operation.begin();
        try {
            for (long started = System.nanoTime(); started - end < 0; ) {
                operation.run();
                long now = System.nanoTime();
                if (now - begin >= 0 && now - end < 0) {
                    latencies.add(now - started);
                }
                started = now;
            }
        } finally {
            operation.end();
        }
        return latencies;
    }

    /** Lets waiters in, one after the other, that have queued behind a gate. */
    private Result drain(Request r) throws Exception {
        if (r.warmupNanos > 0) {
            repeat(r.warmupNanos, 0, r.clients, (client, i) -> Operation.mutex(client, r.path + "-warmup"));
        }
        List<CuratorFramework> clients = take(r.clients);
        InterProcessMutex gate = new InterProcessMutex(clients.get(0), r.path);
        gate.acquire();
        List<Future<long[]>> waiters = new ArrayList<>();
        for (int i = 0; i < r.waiters; i++) {
            InterProcessMutex lock = new InterProcessMutex(clients.get(i % clients.size()), r.path);
            waiters.add(threads.submit(() -> {
                lock.acquire();
                long granted = System.nanoTime();
                lock.release();
                return new long[] {granted, System.nanoTime()};
            }));
        }
        awaitQueued(r.path, r.waiters + 1, waiters);
        long opened = System.nanoTime();
        gate.release();
        return handOvers(opened, waiters);
    }

    /** The time from one grant to the next; waiters tell when they were let in, and when they ended. */
    private static Result handOvers(long opened, List<Future<long[]>> waiters) throws Exception {
        int n = waiters.size();
        long last = 0;
        long[] grants = new long[n];
        List<long[]> times = all(waiters);
        for (int i = 0; i < n; i++) {
            grants[i] = times.get(i)[0] - opened;
            last = Math.max(last, times.get(i)[1] - opened);
        }
        Arrays.sort(grants);
        long[] gaps = new long[n];
        for (int i = 0; i < n; i++) {
            gaps[i] = grants[i] - (i == 0 ? 0 : grants[i - 1]);
        }
        return new Result(n, last, gaps);
    }

    /** Lets latches lead, one after the other, that stand behind a leader. */
    private Result succession(Request r) throws Exception {
        if (r.warmupNanos > 0) {
            repeat(r.warmupNanos, 0, r.clients, (client, i) -> Operation.latch(client, r.path + "-warmup"));
        }
        List<CuratorFramework> clients = take(r.clients);
        LeaderLatch first = new LeaderLatch(clients.get(0), r.path);
        first.start();
        first.await();
        List<Future<long[]>> waiters = new ArrayList<>();
        for (int i = 0; i < r.waiters; i++) {
            LeaderLatch latch = new LeaderLatch(clients.get(i % clients.size()), r.path);
            waiters.add(threads.submit(() -> {
                latch.start();
                latch.await();
                long elected = System.nanoTime();
                latch.close();
                return new long[] {elected, System.nanoTime()};
            }));
        }
        awaitQueued(r.path, r.waiters + 1, waiters);
        long opened = System.nanoTime();
        first.close();
        return handOvers(opened, waiters);
    }

    /** Waits until n hold a lock or wait for it. A waiter that has ended before has failed. */
    private void awaitQueued(String path, int n, List<Future<long[]>> waiters) throws Exception {
        CuratorFramework client = take(1).get(0);
        while (client.checkExists().forPath(path).getNumChildren() != n && waiters.stream().noneMatch(Future::isDone)) {
            Thread.sleep(QUEUE_PAUSE_MS);
        }
    }

    /** Holds a lock, with a session of its own, until this process ends. */
    private Result hold(Request r) throws Exception {
        CuratorFramework client = connect(r.timeoutMillis);
        holders.add(client);
        new InterProcessMutex(client, r.path).acquire();
        return new Result(1, 0, new long[0]);
    }

    /** Waits for a lock, and tells how long ago it was granted. */
    private Result await(Request r) throws Exception {
        InterProcessMutex lock = new InterProcessMutex(take(1).get(0), r.path);
        lock.acquire();
        long granted = System.nanoTime();
        lock.release();
        return new Result(1, System.nanoTime() - granted, new long[0]);
    }

    /** Runs the tasks at once, and waits for all. */
    private <T> List<T> together(List<Callable<T>> tasks) throws Exception {
        return all(threads.invokeAll(tasks));
    }

    private static <T> List<T> all(List<Future<T>> futures) throws Exception {
        ExecutionException failure = null;
        List<T> results = new ArrayList<>();
        for (Future<T> future : futures) {
            try {
                results.add(future.get());
            } catch (ExecutionException e) {
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
        return results;
    }

    /** Returns n clients, and connects those that are missing. */
    private List<CuratorFramework> take(int n) throws Exception {
        while (clients.size() < n) {
            clients.add(connect(SESSION_TIMEOUT_MS));
        }
        return clients.subList(0, n);
    }

    private CuratorFramework connect(int sessionTimeoutMillis) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(connectString)
                .sessionTimeoutMs(sessionTimeoutMillis)
                .connectionTimeoutMs(SESSION_TIMEOUT_MS)
                .retryPolicy(new RetryOneTime(RETRY_PAUSE_MS))
                .build();
        client.start();
        client.blockUntilConnected();
        return client;
    }

    /** Closes the clients, all at once: Curator's takes 100 ms for each. */
    private void close() throws Exception {
        clients.addAll(holders);
        together(clients.stream().map(client -> Executors.callable(client::close)).collect(Collectors.toList()));
        threads.shutdown();
    }
}
