import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;

/** Leaders has the latches and the selectors of one Peer, by their paths; its thread uses it. */
final class Leaders {
    private final CuratorFramework client;
    private final Map<String, LeaderLatch> latches = new HashMap<>();
    private final Map<String, Selector> selectors = new HashMap<>();

    Leaders(CuratorFramework client) {
        this.client = client;
    }

    /** Reports whether a command is one of those here. */
    static boolean knows(String command) {
        return command.startsWith("latch") || command.startsWith("selector");
    }

    String run(String[] request) throws Exception {
        String path = request[3];
        switch (request[2]) {
            case "latchStart": // the path and an id
                latches.put(path, new LeaderLatch(client, path, request[4]));
                latches.get(path).start();
                return "";
            case "latchLeads":
                return Boolean.toString(latches.get(path).hasLeadership());
            case "latchParticipants":
                return text(latches.get(path).getParticipants());
            case "latchLeader":
                return latches.get(path).getLeader().getId();
            case "latchClose":
                latches.remove(path).close();
                return "";
            case "selectorStart": // the path and an id
                selectors.put(path, new Selector(client, path, request[4]));
                return "";
            case "selectorLeads":
                return Boolean.toString(selectors.get(path).selector.hasLeadership());
            case "selectorParticipants":
                return text(selectors.get(path).selector.getParticipants());
            case "selectorLeader":
                return selectors.get(path).selector.getLeader().getId();
            case "selectorStep": // ends the term
                selectors.get(path).step.release();
                return "";
            case "selectorClose":
                selectors.remove(path).selector.close();
                return "";
            default:
                throw new IllegalArgumentException(request[2]);
        }
    }

    private static String text(Collection<Participant> participants) {
        return participants.stream()
                .map(p -> p.getId() + "=" + p.isLeader())
                .collect(Collectors.joining(" "));
    }

    /** A selector that stands again after each of its terms, which last until a step. */
    private static final class Selector {
        final Semaphore step = new Semaphore(0);
        final LeaderSelector selector;

        Selector(CuratorFramework client, String path, String id) {
            selector = new LeaderSelector(client, path, new LeaderSelectorListenerAdapter() {
                @Override
                public void takeLeadership(CuratorFramework c) throws Exception {
                    step.acquire();
                }
            });
            selector.setId(id);
            selector.autoRequeue();
            selector.start();
        }
    }
}
