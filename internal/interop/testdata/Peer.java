import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Peer is a client of Java Curator that a test drives; one process has any number of them.
 *
 * <p>A line of the input is a request: its number, the name of the client, which is made when
 * it is first named, a command and its arguments. A line of the output is the answer to one:
 * its number, "ok" or "error", and a text. The process ends with its input.
 */
public final class Peer {
    private static final Map<String, Peer> PEERS = new HashMap<>();

    private final CuratorFramework client;
    private final Map<String, Mutex> mutexes = new ConcurrentHashMap<>();
    private final Leases leases;
    private final Leaders leaders;
    private final Caches caches;
    private final ReadWriteLocks readWriteLocks;
    private final Shared shared;
    private final Queues queues;
    private final Nodes nodes;
    private final Discoveries discoveries;
    /** The paths of the locks that somebody has asked for. */
    private final BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    /** Curator's mutex belongs to a thread: this one. */
    private final ExecutorService owner;
    private volatile Thread ownerThread;
    /** What can be asked while the owner waits. */
    private final ExecutorService aside = Executors.newSingleThreadExecutor();

    /**
     * The arguments are the connect string and the session timeout in milliseconds. A client whose
     * name ends with "@" and another connect string uses that.
     */
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] request = line.split(" ");
            PEERS.computeIfAbsent(request[1], name -> {
                int at = name.indexOf('@');
                return new Peer(at < 0 ? args[0] : name.substring(at + 1), Integer.parseInt(args[1]));
            }).take(request);
        }
        System.exit(0);
    }

    private Peer(String connectString, int sessionTimeout) {
        client = CuratorFrameworkFactory.builder()
                .connectString(connectString)
                .sessionTimeoutMs(sessionTimeout)
                .connectionTimeoutMs(sessionTimeout)
                .retryPolicy(new ExponentialBackoffRetry(50, 10))
                .build();
        discoveries = new Discoveries(client);
        client.start();
        leases = new Leases(client);
        shared = new Shared(client);
        leaders = new Leaders(client);
        caches = new Caches(client);
        readWriteLocks = new ReadWriteLocks(client, asked);
        queues = new Queues(client);
        nodes = new Nodes(client);
        owner = Executors.newSingleThreadExecutor(work -> ownerThread = new Thread(work));
    }

    private void take(String[] request) {
        switch (request[2]) {
            case "session":
            case "participants":
            case "revoke":
            case "asked":
            case "interrupt":
            case "close":
            case "queueTaken":
                aside.execute(() -> answer(request));
                break;
            default:
                owner.execute(() -> answer(request));
        }
    }

    private void answer(String[] request) {
        String answer;
        try {
            answer = "ok " + run(request);
        } catch (Exception e) {
            answer = "error " + e;
        }
        synchronized (System.out) {
            System.out.println(request[0] + " " + answer.replace('\n', ' '));
            System.out.flush();
        }
    }

    private String run(String[] request) throws Exception {
        String path = request.length > 3 ? request[3] : null;
        switch (request[2]) {
            case "session":
                client.blockUntilConnected();
                return Long.toString(client.getZookeeperClient().getZooKeeper().getSessionId());
            case "acquire":
                mutex(path).acquire();
                return mutex(path).node();
            case "try": // answers nothing when the lock is busy
                return mutex(path).acquire(Long.parseLong(request[4]), TimeUnit.MILLISECONDS)
                        ? mutex(path).node() : "";
            case "release":
                mutex(path).release();
                return "";
            case "participants":
                return String.join(" ", mutex(path).getParticipantNodes());
            case "revoke": // the path is that of a node
                Revoker.attemptRevoke(client, path);
                return "";
            case "revocable": // from the next acquire to its release
                mutex(path).makeRevocable(lock -> asked.add(path));
                return "";
            case "asked": // answers nothing when nobody has asked for a lock
                String lock = asked.poll(Long.parseLong(path), TimeUnit.MILLISECONDS);
                return lock == null ? "" : lock;
            case "increment":
                for (int left = Integer.parseInt(request[5]); left > 0; left--) {
                    increment(path, request[4]);
                }
                return "";
            case "interrupt":
                ownerThread.interrupt();
                return "";
            case "close":
                owner.shutdownNow();
                aside.shutdown();
                client.close();
                return "";
            case "rwAcquire":
            case "rwTry":
            case "rwRelease":
            case "rwParticipants":
            case "rwRevocable":
                return readWriteLocks.run(request);
            case "cacheStart":
            case "cacheEvents":
            case "cacheContents":
            case "cacheClose":
            case "nodePut":
            case "nodeDelete":
            case "nodeReplace":
                return caches.run(request);
            default:
                if (request[2].matches("(shared|atomic|barrier|double)[A-Z].*")) {
                    return shared.run(request);
                }
                if (request[2].startsWith("queue")) {
                    return queues.run(request);
                }
                if (request[2].startsWith("node")) {
                    return nodes.run(request);
                }
                if (request[2].startsWith("discovery")) {
                    return discoveries.run(request);
                }
                return Leaders.knows(request[2]) ? leaders.run(request) : leases.run(request);
        }
    }

    /** Adds one to a node's number, which is right only while nobody else does. */
    private void increment(String path, String counter) throws Exception {
        mutex(path).acquire();
        try {
            int n = Integer.parseInt(new String(client.getData().forPath(counter), UTF_8));
            client.setData().forPath(counter, Integer.toString(n + 1).getBytes(UTF_8));
        } finally {
            mutex(path).release();
        }
    }

    private Mutex mutex(String path) {
        return mutexes.computeIfAbsent(path, p -> new Mutex(client, p));
    }

    /** Curator tells the path of the lock's node to subclasses only. */
    private static final class Mutex extends InterProcessMutex {
        Mutex(CuratorFramework client, String path) {
            super(client, path);
        }

        String node() {
            return getLockPath();
        }
    }
}
