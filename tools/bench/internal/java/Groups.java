import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.nodes.GroupMember;

/** Groups has the workload with groups. */
final class Groups {
    private Groups() {}

    /** As many members as there are waiters join a group at once, until each knows all of them. */
    static Result join(List<CuratorFramework> clients, ExecutorService threads, Request r) throws Exception {
        List<GroupMember> members = new ArrayList<>();
        for (int i = 0; i < r.waiters; i++) {
            members.add(new GroupMember(clients.get(i % clients.size()), r.path, "member-" + i, "payload".getBytes(UTF_8)));
        }
        try {
            long begin = System.nanoTime();
            List<Future<Long>> joining = new ArrayList<>();
            for (GroupMember member : members) {
                joining.add(threads.submit(() -> {
                    member.start();
                    while (member.getCurrentMembers().size() < members.size()) {
                        Thread.sleep(1);
                    }
                    return System.nanoTime() - begin;
                }));
            }
            long[] took = new long[joining.size()];
            for (int i = 0; i < took.length; i++) {
                took[i] = joining.get(i).get();
            }
            return new Result(r.waiters, System.nanoTime() - begin, took);
        } finally {
            for (GroupMember member : members) {
                member.close();
            }
        }
    }
}
