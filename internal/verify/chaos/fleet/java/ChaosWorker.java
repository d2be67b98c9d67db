import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * ChaosWorker uses locks of Java Curator beside the workers in Go, and notes the same events.
 *
 * <p>It believes in a lock from the return of acquire until the connection is suspended or lost,
 * as Curator's documentation says that it should. The arguments are its name, the connect string,
 * the root, the session timeout in milliseconds, a seed, and the mean pause in milliseconds. It
 * ends with its input.
 */
public final class ChaosWorker {
    private static final PrintStream OUT = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false, UTF_8);
    private static volatile boolean ending;

    private final String name;
    private final String root;
    private final long seed;
    private final int pause;
    private final CuratorFramework client;
    private final AtomicLong ops = new AtomicLong();
    /** How often the connection was suspended or lost. */
    private final AtomicInteger breaks = new AtomicInteger();

    public static void main(String[] args) throws Exception {
        ChaosWorker worker = new ChaosWorker(args);
        List<Thread> threads = new ArrayList<>();
        threads.add(worker.start(1, "java-mutex", worker::mutex));
        threads.add(worker.start(2, "java-read-write", worker::readWrite));
        threads.add(worker.start(3, "java-semaphore", worker::semaphore));
        while (System.in.read() >= 0) {
            // Nothing is said to it.
        }
        ending = true;
        for (Thread thread : threads) {
            thread.join(15_000);
        }
        worker.client.close();
        OUT.flush();
        Runtime.getRuntime().halt(0);
    }

    private ChaosWorker(String[] args) {
        name = args[0];
        root = args[2];
        seed = Long.parseLong(args[4]);
        pause = Integer.parseInt(args[5]);
        int session = Integer.parseInt(args[3]);
        client = CuratorFrameworkFactory.builder()
                .connectString(args[1])
                .sessionTimeoutMs(session)
                .connectionTimeoutMs(session)
                .retryPolicy(new ExponentialBackoffRetry(50, 6, 500))
                .build();
        client.getConnectionStateListenable().addListener((c, state) -> {
            if (state == ConnectionState.SUSPENDED || state == ConnectionState.LOST) {
                breaks.incrementAndGet();
            }
        });
        client.start();
    }

    private Thread start(int number, String workload, Workload body) {
        Thread thread = new Thread(() -> {
            Random random = new Random(seed + number);
            while (!ending) {
                try {
                    Thread.sleep(random.nextInt(2 * pause + 1));
                    body.once(workload, random);
                } catch (Exception e) {
                    note("\"e\":\"refused\",\"w\":\"" + workload + "\",\"text\":\"" + clean(e) + "\"");
                }
            }
        });
        thread.start();
        return thread;
    }

    private void mutex(String workload, Random random) throws Exception {
        Mutex mutex = new Mutex(client, root + "/" + workload);
        long op = begin(workload, mutex.path);
        if (mutex.acquire(5, TimeUnit.SECONDS)) {
            hold(workload, op, mutex.path, "x", 0, mutex.node(), random, mutex::release);
        }
    }

    private void readWrite(String workload, Random random) throws Exception {
        String path = root + "/" + workload;
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
        boolean write = random.nextInt(3) == 0;
        InterProcessMutex mutex = write ? lock.writeLock() : lock.readLock();
        long op = begin(workload, path);
        if (mutex.acquire(5, TimeUnit.SECONDS)) {
            hold(workload, op, path, write ? "x" : "s", 0, "", random, mutex::release);
        }
    }

    private void semaphore(String workload, Random random) throws Exception {
        String path = root + "/" + workload;
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, 2);
        long op = begin(workload, path);
        Lease lease = semaphore.acquire(5, TimeUnit.SECONDS);
        if (lease != null) {
            hold(workload, op, path, "s", 2, path + "/leases/" + lease.getNodeName(), random, () -> semaphore.returnLease(lease));
        }
    }

    private long begin(String workload, String path) {
        long op = ops.incrementAndGet();
        note("\"e\":\"begin\",\"w\":\"" + workload + "\",\"op\":" + op + ",\"lock\":\"" + path + "\"");
        return op;
    }

    private void hold(String workload, long op, String path, String mode, int max, String node, Random random, Release release)
            throws Exception {
        int before = breaks.get();
        long session = client.getZookeeperClient().getZooKeeper().getSessionId();
        String head = "\"w\":\"" + workload + "\",\"op\":" + op;
        long at = System.nanoTime();
        if (breaks.get() == before) {
            note(at, "\"e\":\"grant\"," + head + ",\"lock\":\"" + path + "\",\"mode\":\"" + mode + "\",\"max\":" + max
                    + ",\"node\":\"" + node + "\",\"session\":" + session);
        }
        long end = at + TimeUnit.MILLISECONDS.toNanos(random.nextInt(random.nextInt(20) == 0 ? 1000 : 40));
        do {
            Thread.sleep(Math.max(0, Math.min(15, (end - System.nanoTime()) / 1_000_000)));
            at = System.nanoTime();
            if (breaks.get() != before) {
                note("\"e\":\"lost\"," + head);
                break;
            }
            note(at, "\"e\":\"held\"," + head);
        } while (at < end);
        note("\"e\":\"release\"," + head);
        release.run();
    }

    private void note(String fields) {
        note(System.nanoTime(), fields);
    }

    private void note(long at, String fields) {
        synchronized (OUT) {
            OUT.print("{\"t\":" + at + ",\"p\":\"" + name + "\"," + fields + "}\n");
            OUT.flush();
        }
    }

    private static String clean(Exception e) {
        return e.toString().replaceAll("[^\\w .,:=/-]", "_");
    }

    private interface Workload {
        void once(String workload, Random random) throws Exception;
    }

    private interface Release {
        void run() throws Exception;
    }

    /** Curator tells the path of the lock's node to subclasses only. */
    private static final class Mutex extends InterProcessMutex {
        final String path;

        Mutex(CuratorFramework client, String path) {
            super(client, path);
            this.path = path;
        }

        String node() {
            return getLockPath();
        }
    }
}
