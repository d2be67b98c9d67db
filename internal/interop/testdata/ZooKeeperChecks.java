import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.zookeeper.ZooDefs.Ids.CREATOR_ALL_ACL;
import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;
import static org.apache.zookeeper.ZooDefs.Ids.READ_ACL_UNSAFE;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.admin.ZooKeeperAdmin;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** What ZooKeeper's own client can ask for. */
final class ZooKeeperChecks {
    private final String connectString;
    private final String root;
    private final ZooKeeper zk;
    private final BlockingQueue<String> states = Checks.queue();

    /** A request that the server refuses. */
    private interface Request {
        void send() throws Exception;
    }

    ZooKeeperChecks(String connectString, String root) throws IOException {
        this.connectString = connectString;
        this.root = root;
        zk = new ZooKeeper(connectString, 30000, event -> states.add(event.getState().toString()));
    }

    void run() throws Exception {
        Checks.next(states, "SyncConnected");
        create(root, CreateMode.PERSISTENT);
        Checks.run("nodes", this::nodes);
        Checks.run("errors", this::errors);
        Checks.run("multi", this::multi);
        Checks.run("watches", this::watches);
        Checks.run("watches removed", this::watchesRemoved);
        Checks.run("watches after an outage", this::watchesAfterOutage);
        Checks.run("ACL", this::acl);
        Checks.run("administration", this::administration);
        Checks.run("sessions", this::sessions);
        zk.close();
    }

    private String create(String path, CreateMode mode) throws Exception {
        return zk.create(path, "data".getBytes(UTF_8), OPEN_ACL_UNSAFE, mode);
    }

    private static void refused(Code code, Request request) throws Exception {
        try {
            request.send();
        } catch (KeeperException e) {
            Checks.same("code", code, e.code());
            return;
        }
        throw new AssertionError("not refused: want " + code);
    }

    /** A watcher that puts its events, with the paths below root, into a queue. */
    private Watcher into(BlockingQueue<String> events) {
        return event -> {
            if (event.getPath() != null) { // otherwise it is about the connection
                events.add(event.getType() + " " + event.getPath().substring(root.length()));
            }
        };
    }

    private void nodes() throws Exception {
        String nodes = root + "/nodes";
        Stat stat = new Stat();
        zk.create(nodes, null, OPEN_ACL_UNSAFE, CreateMode.PERSISTENT, stat);
        Checks.same("zxids", stat.getCzxid(), stat.getPzxid());
        Checks.same("data", null, zk.getData(nodes, false, stat));
        Checks.same("sequential", nodes + "/s-0000000000", create(nodes + "/s-", CreateMode.PERSISTENT_SEQUENTIAL));
        Checks.same("ephemeral", nodes + "/e-0000000001", create(nodes + "/e-", CreateMode.EPHEMERAL_SEQUENTIAL));
        create(nodes + "/e", CreateMode.EPHEMERAL);
        create(nodes + "/container", CreateMode.CONTAINER);
        zk.create(nodes + "/t-", null, OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL, stat, 60000);
        zk.create(nodes + "/t", null, OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_WITH_TTL, stat, 60000);
        Checks.same("owner of a TTL node", 0L, stat.getEphemeralOwner());
        Checks.same("owner", zk.getSessionId(), zk.exists(nodes + "/e", false).getEphemeralOwner());
        Checks.same("children", new TreeSet<>(Arrays.asList("container", "e", "e-0000000001", "s-0000000000", "t", "t-0000000004")),
                new TreeSet<>(zk.getChildren(nodes, false, stat)));
        Checks.same("cversion", 6, stat.getCversion());
        Checks.same("all children", 6, zk.getAllChildrenNumber(nodes));
        Checks.same("no children", 0, zk.getAllChildrenNumber(nodes + "/s-0000000000"));
        List<String> ephemerals = Arrays.asList(nodes + "/e", nodes + "/e-0000000001");
        Checks.same("ephemerals", new TreeSet<>(ephemerals), new TreeSet<>(zk.getEphemerals()));
        Checks.same("ephemerals with a prefix", ephemerals.subList(1, 2), zk.getEphemerals(nodes + "/e-"));
        Checks.same("version", 1, zk.setData(nodes, new byte[] {1}, 0).getVersion());
        zk.delete(nodes + "/e", 0);
        Checks.same("deleted", null, zk.exists(nodes + "/e", false));
    }

    private void errors() throws Exception {
        String node = create(root + "/errors", CreateMode.PERSISTENT);
        String child = create(node + "/e", CreateMode.EPHEMERAL);
        refused(Code.NODEEXISTS, () -> create(node, CreateMode.PERSISTENT));
        refused(Code.NONODE, () -> create(root + "/none/x", CreateMode.PERSISTENT));
        refused(Code.NOCHILDRENFOREPHEMERALS, () -> create(child + "/x", CreateMode.PERSISTENT));
        refused(Code.INVALIDACL, () -> zk.create(node + "/x", null, CREATOR_ALL_ACL, CreateMode.PERSISTENT));
        refused(Code.BADVERSION, () -> zk.setData(node, null, 3));
        refused(Code.BADVERSION, () -> zk.delete(child, 3));
        refused(Code.NOTEMPTY, () -> zk.delete(node, -1));
        refused(Code.NONODE, () -> zk.getAllChildrenNumber(node + "/none"));
        refused(Code.NONODE, () -> zk.getACL(node + "/none", null));
    }

    private void multi() throws Exception {
        String node = create(root + "/multi", CreateMode.PERSISTENT);
        List<OpResult> results = zk.multi(Arrays.asList(
                Op.create(node + "/s-", null, OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL),
                Op.create(node + "/t", null, OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_WITH_TTL, 60000),
                Op.setData(node, "new".getBytes(UTF_8), 0),
                Op.check(node, 1),
                Op.delete(node + "/t", -1)));
        Checks.same("created", node + "/s-0000000000", ((OpResult.CreateResult) results.get(0)).getPath());
        Checks.same("created with TTL", node + "/t", ((OpResult.CreateResult) results.get(1)).getPath());
        Checks.same("set", 1, ((OpResult.SetDataResult) results.get(2)).getStat().getVersion());
        try {
            zk.multi(Arrays.asList(Op.setData(node, null, 1), Op.delete(node, -1), Op.check(node, 1)));
            throw new AssertionError("a parent was deleted");
        } catch (KeeperException e) {
            Checks.same("code", Code.NOTEMPTY, e.code());
            Checks.same("codes", Arrays.asList(0, Code.NOTEMPTY.intValue(), Code.RUNTIMEINCONSISTENCY.intValue()),
                    e.getResults().stream().map(r -> ((OpResult.ErrorResult) r).getErr()).collect(Collectors.toList()));
        }
        results = zk.multi(Arrays.asList(Op.getData(node), Op.getData(node + "/none"), Op.getChildren(node)));
        Checks.same("data", "new", new String(((OpResult.GetDataResult) results.get(0)).getData(), UTF_8));
        Checks.same("error", Code.NONODE.intValue(), ((OpResult.ErrorResult) results.get(1)).getErr());
        Checks.same("children", Collections.singletonList("s-0000000000"),
                ((OpResult.GetChildrenResult) results.get(2)).getChildren());
    }

    private void watches() throws Exception {
        String node = root + "/watched";
        BlockingQueue<String> events = Checks.queue();
        Watcher watcher = into(events);
        zk.exists(node, watcher);
        create(node, CreateMode.PERSISTENT);
        Checks.next(events, "NodeCreated /watched");
        zk.getData(node, watcher, null);
        zk.setData(node, null, -1);
        Checks.next(events, "NodeDataChanged /watched");
        zk.getChildren(node, watcher);
        create(node + "/child", CreateMode.PERSISTENT);
        Checks.next(events, "NodeChildrenChanged /watched");
        zk.delete(node + "/child", -1);

        zk.addWatch(node, watcher, AddWatchMode.PERSISTENT);
        for (int i = 0; i < 2; i++) {
            zk.setData(node, null, -1);
            Checks.next(events, "NodeDataChanged /watched");
            create(node + "/child", CreateMode.PERSISTENT);
            Checks.next(events, "NodeChildrenChanged /watched");
            zk.delete(node + "/child", -1);
            Checks.next(events, "NodeChildrenChanged /watched");
        }

        String tree = create(root + "/tree", CreateMode.PERSISTENT); // since 3.9 one node may have watches of both modes
        zk.addWatch(tree, watcher, AddWatchMode.PERSISTENT_RECURSIVE);
        create(tree + "/child", CreateMode.PERSISTENT);
        Checks.next(events, "NodeCreated /tree/child");
        zk.multi(Arrays.asList(Op.setData(tree + "/child", null, -1), Op.delete(tree + "/child", -1), Op.delete(tree, -1)));
        Checks.next(events, "NodeDataChanged /tree/child");
        Checks.next(events, "NodeDeleted /tree/child");
        Checks.next(events, "NodeDeleted /tree");
        zk.removeWatches(tree, watcher, WatcherType.Any, false);
        Checks.next(events, "PersistentWatchRemoved /tree");
        Checks.same("more events", null, events.poll());
    }

    private void watchesRemoved() throws Exception {
        String node = create(root + "/removed", CreateMode.PERSISTENT);
        BlockingQueue<String> events = Checks.queue();
        Watcher watcher = into(events);
        refused(Code.NOWATCHER, () -> zk.removeWatches(node, watcher, WatcherType.Any, false));
        zk.getData(node, watcher, null);
        refused(Code.NOWATCHER, () -> zk.removeWatches(node, watcher, WatcherType.Children, false));
        zk.removeWatches(node, watcher, WatcherType.Data, false);
        Checks.next(events, "DataWatchRemoved /removed");
        zk.getChildren(node, watcher);
        zk.getChildren(node, into(Checks.queue()));
        zk.removeWatches(node, watcher, WatcherType.Children, false);
        Checks.next(events, "ChildWatchRemoved /removed");
        zk.removeAllWatches(node, WatcherType.Children, false);
        zk.getData(node, watcher, null);
        zk.setData(node, null, -1);
        Checks.next(events, "NodeDataChanged /removed");
        Checks.same("more events", null, events.poll());
    }

    private void watchesAfterOutage() throws Exception {
        long id = zk.getSessionId();
        String node = create(root + "/o", CreateMode.PERSISTENT);
        String tree = create(root + "/t", CreateMode.PERSISTENT);
        String single = create(root + "/s", CreateMode.PERSISTENT);
        BlockingQueue<String> missed = Checks.queue();
        BlockingQueue<String> kept = Checks.queue();
        BlockingQueue<String> lasting = Checks.queue();
        zk.getData(node, into(missed), null);
        zk.getChildren(node, into(missed));
        zk.exists(node + "/new", into(missed));
        zk.exists(node + "/kept", into(kept));
        zk.getChildren(root, into(kept));
        zk.addWatch(tree, into(lasting), AddWatchMode.PERSISTENT_RECURSIVE);
        zk.addWatch(single, into(lasting), AddWatchMode.PERSISTENT);
        Checks.outage("set", node, "create", node + "/new", "create", tree + "/gap", "set", single);
        Checks.nextOf(missed, "NodeChildrenChanged /o", "NodeCreated /o/new", "NodeDataChanged /o");
        Checks.same("more of what was missed", null, missed.poll());
        Checks.same("kept, with nothing to tell", null, kept.poll());
        Checks.same("lasting, with nothing to tell", null, lasting.poll());
        create(node + "/kept", CreateMode.PERSISTENT);
        Checks.next(kept, "NodeCreated /o/kept");
        create(root + "/new", CreateMode.PERSISTENT);
        Checks.next(kept, "NodeChildrenChanged ");
        zk.delete(tree + "/gap", -1);
        Checks.next(lasting, "NodeDeleted /t/gap");
        create(single + "/child", CreateMode.PERSISTENT);
        Checks.next(lasting, "NodeChildrenChanged /s");
        Checks.same("session", id, zk.getSessionId());
    }

    private void acl() throws Exception {
        String node = root + "/acl";
        zk.addAuthInfo("digest", "me:secret".getBytes(UTF_8));
        zk.create(node, null, CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        Stat stat = new Stat();
        List<ACL> acl = zk.getACL(node, stat);
        Checks.same("ACL", "digest", acl.get(0).getId().getScheme());
        Checks.same("who", new TreeSet<>(Arrays.asList("digest me", "ip 127.0.0.1")),
                zk.whoAmI().stream().map(i -> i.getAuthScheme() + " " + i.getUser()).collect(Collectors.toCollection(TreeSet::new)));
        ZooKeeper other = new ZooKeeper(connectString, 30000, event -> {});
        refused(Code.NOAUTH, () -> other.getData(node, false, null));
        refused(Code.NOAUTH, () -> other.create(node + "/x", null, OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        refused(Code.NOAUTH, () -> other.setACL(node, OPEN_ACL_UNSAFE, -1));
        refused(Code.BADVERSION, () -> zk.setACL(node, OPEN_ACL_UNSAFE, 4));
        Checks.same("version", 1, zk.setACL(node, Arrays.asList(acl.get(0), READ_ACL_UNSAFE.get(0)), 0).getAversion());
        Checks.same("data", null, other.getData(node, false, null));
        Checks.same("masked", "me:x", other.getACL(node, stat).get(0).getId().getId());
        other.close();
    }

    private void administration() throws Exception {
        CompletableFuture<String> synced = new CompletableFuture<>();
        zk.sync(root, (code, path, ctx) -> synced.complete(code + " " + path), null);
        Checks.same("sync", "0 " + root, synced.get(20, TimeUnit.SECONDS));
        try (ZooKeeperAdmin admin = new ZooKeeperAdmin(connectString, 30000, event -> {})) {
            Checks.same("config", 0, admin.getConfig(false, null).length);
            refused(Code.RECONFIGDISABLED, () -> admin.reconfigure(null, "1", null, -1, null));
        }
    }

    private void sessions() throws Exception {
        String node = create(root + "/session", CreateMode.EPHEMERAL);
        states.clear();
        BlockingQueue<String> taken = Checks.queue();
        ZooKeeper heir = new ZooKeeper(connectString, 30000, event -> taken.add(event.getState().toString()),
                zk.getSessionId(), zk.getSessionPasswd());
        Checks.next(taken, "SyncConnected");
        Checks.same("owner", heir.getSessionId(), heir.exists(node, false).getEphemeralOwner());
        Checks.next(states, "Disconnected");
        heir.close();
        String state = states.poll(20, TimeUnit.SECONDS);
        while (!"Expired".equals(state)) {
            Checks.same("no state", false, state == null);
            state = states.poll(20, TimeUnit.SECONDS);
        }
        BlockingQueue<String> unknown = Checks.queue();
        new ZooKeeper(connectString, 30000, event -> unknown.add(event.getState().toString()), 12345, new byte[16]);
        Checks.next(unknown, "Expired");
    }
}
