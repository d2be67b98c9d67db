import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** ReadWriteLocks has the read-write locks of one Peer; its thread uses and holds them. */
final class ReadWriteLocks {
    private final CuratorFramework client;
    private final Map<String, InterProcessReadWriteLock> locks = new HashMap<>();

    private final Collection<String> asked;

    /** The paths of the locks that somebody asks for are added to asked. */
    ReadWriteLocks(CuratorFramework client, Collection<String> asked) {
        this.client = client;
        this.asked = asked;
    }

    /** The arguments of all commands are the lock's path and the side, "read" or "write". */
    String run(String[] request) throws Exception {
        InterProcessMutex side = side(request[3], request[4]);
        switch (request[2]) {
            case "rwAcquire":
                side.acquire();
                return "";
            case "rwTry": // answers nothing when the lock is busy
                return side.acquire(0, TimeUnit.MILLISECONDS) ? "in" : "";
            case "rwRelease":
                side.release();
                return "";
            case "rwRevocable": // from the next rwAcquire to its release
                side.makeRevocable(lock -> asked.add(request[3]));
                return "";
            case "rwParticipants":
                Collection<String> nodes = request[4].equals("read")
                        ? lock(request[3]).readLock().getParticipantNodes()
                        : lock(request[3]).writeLock().getParticipantNodes();
                return String.join(" ", nodes);
            default:
                throw new IllegalArgumentException(request[2]);
        }
    }

    private InterProcessMutex side(String path, String side) {
        return side.equals("read") ? lock(path).readLock() : lock(path).writeLock();
    }

    private InterProcessReadWriteLock lock(String path) {
        return locks.computeIfAbsent(path, p -> new InterProcessReadWriteLock(client, p));
    }
}
