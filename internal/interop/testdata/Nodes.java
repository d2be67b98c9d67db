import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.zookeeper.CreateMode;

/** Nodes has the kept nodes and the memberships of one Peer; its thread uses it. */
final class Nodes {
    private final CuratorFramework client;
    private final Map<String, PersistentNode> kept = new HashMap<>();
    private final Map<String, GroupMember> members = new HashMap<>();

    Nodes(CuratorFramework client) {
        this.client = client;
    }

    String run(String[] request) throws Exception {
        String path = request[3];
        switch (request[2]) {
            case "nodeKeep": // the path, the mode, whether it is protected, the data
                PersistentNode node = new PersistentNode(client, CreateMode.valueOf(request[4]),
                        Boolean.parseBoolean(request[5]), path, request[6].getBytes(UTF_8));
                kept.put(path, node);
                node.start();
                if (!node.waitForInitialCreate(10, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("not created");
                }
                return node.getActualPath();
            case "nodeSet":
                kept.get(path).setData(request[4].getBytes(UTF_8));
                return "";
            case "nodeDrop":
                kept.remove(path).close();
                return "";
            case "nodeJoin": // the group's path, the id, the payload, which may be left out
                GroupMember member = request.length > 5
                        ? new GroupMember(client, path, request[4], request[5].getBytes(UTF_8))
                        : new GroupMember(client, path, request[4]);
                members.put(path, member);
                member.start();
                return "";
            case "nodePayload":
                members.get(path).setThisData(request[4].getBytes(UTF_8));
                return "";
            case "nodeMembers": // answers id=payload for each, in their order
                StringBuilder all = new StringBuilder();
                for (Map.Entry<String, byte[]> e : new TreeMap<>(members.get(path).getCurrentMembers()).entrySet()) {
                    all.append(all.length() > 0 ? " " : "").append(e.getKey()).append('=').append(new String(e.getValue(), UTF_8));
                }
                return all.toString();
            case "nodeLeave":
                members.remove(path).close();
                return "";
            default:
                throw new IllegalArgumentException(request[2]);
        }
    }
}
