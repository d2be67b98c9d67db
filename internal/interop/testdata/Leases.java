import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.zookeeper.CreateMode;

/** Leases has the semaphores of one Peer, and what it holds of them; its thread uses it. */
final class Leases {
    private final CuratorFramework client;
    private final Map<String, SharedCount> counts = new HashMap<>();
    private final Map<String, InterProcessSemaphoreMutex> mutexes = new HashMap<>();
    private final Deque<Lease> held = new ArrayDeque<>();

    Leases(CuratorFramework client) {
        this.client = client;
    }

    String run(String[] request) throws Exception {
        String path = request[3];
        switch (request[2]) {
            case "lease": // the semaphore's path, its maximum
                return keep(semaphore(path, request[4]).acquire());
            case "tryLease": // and how long to wait; answers nothing when there is none
                return keep(semaphore(path, request[4]).acquire(Long.parseLong(request[5]), TimeUnit.MILLISECONDS));
            case "return":
                held.removeFirst().close();
                return "";
            case "work": // the path, the maximum, a path to count at, rounds
                int peak = 0;
                for (int left = Integer.parseInt(request[6]); left > 0; left--) {
                    peak = Math.max(peak, work(semaphore(path, request[4]), request[5]));
                }
                return Integer.toString(peak);
            case "enter":
                mutex(path).acquire();
                return "";
            case "tryEnter": // answers nothing when it is taken
                return mutex(path).acquire(Long.parseLong(request[4]), TimeUnit.MILLISECONDS) ? "in" : "";
            case "exit":
                mutex(path).release();
                return "";
            case "count":
                count(path).setCount(Integer.parseInt(request[4]));
                return Integer.toString(count(path).getVersionedValue().getVersion());
            default:
                throw new IllegalArgumentException(request[2]);
        }
    }

    /** A semaphore; its maximum is a number, or a count at a path. */
    private InterProcessSemaphoreV2 semaphore(String path, String maximum) throws Exception {
        return maximum.startsWith("/")
                ? new InterProcessSemaphoreV2(client, path, count(maximum))
                : new InterProcessSemaphoreV2(client, path, Integer.parseInt(maximum));
    }

    private InterProcessSemaphoreMutex mutex(String path) {
        return mutexes.computeIfAbsent(path, p -> new InterProcessSemaphoreMutex(client, p));
    }

    private SharedCount count(String path) throws Exception {
        SharedCount count = counts.get(path);
        if (count == null) {
            count = new SharedCount(client, path, 0);
            count.start();
            counts.put(path, count);
        }
        return count;
    }

    private String keep(Lease lease) {
        if (lease == null) {
            return "";
        }
        held.addFirst(lease);
        return lease.getNodeName();
    }

    /** Takes a lease, and returns how many had one meanwhile. */
    private int work(InterProcessSemaphoreV2 semaphore, String inside) throws Exception {
        try (Lease lease = semaphore.acquire()) {
            String node = client.create().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath(inside + "/java-");
            int n = client.getChildren().forPath(inside).size();
            client.delete().forPath(node);
            return n;
        }
    }
}
