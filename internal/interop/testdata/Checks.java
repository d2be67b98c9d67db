import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Checks has ZooKeeper's own client and Curator use a server, and fails at the first thing that
 * is not as it must be.
 *
 * <p>It prints a line for each check that has passed, and "done" at the end. In between it asks
 * for outages of the network: see {@link #outage}.
 */
public final class Checks {
    private static final BufferedReader IN = new BufferedReader(new InputStreamReader(System.in, UTF_8));

    private Checks() {}

    /** A check. */
    interface Check {
        void run() throws Exception;
    }

    /** The arguments are the connect string, a path for the checks, and which of them to run. */
    public static void main(String[] args) throws Exception {
        try {
            for (int i = 2; i < args.length; i++) {
                switch (args[i]) {
                    case "zookeeper":
                        new ZooKeeperChecks(args[0], args[1] + "-zookeeper").run();
                        break;
                    case "curator":
                        new CuratorChecks(args[0], args[1] + "-curator").run();
                        break;
                    default:
                        throw new IllegalArgumentException(args[i]);
                }
            }
        } catch (Throwable e) {
            e.printStackTrace();
            System.exit(1);
        }
        System.out.println("done");
        System.exit(0);
    }

    static void run(String name, Check check) throws Exception {
        check.run();
        System.out.println(name);
    }

    static void same(String what, Object want, Object got) {
        if (!Objects.equals(want, got)) {
            throw new AssertionError(what + ": " + got + ", want " + want);
        }
    }

    /** Fails unless what comes next is this, and soon. */
    static <T> void next(BlockingQueue<T> queue, T want) throws InterruptedException {
        same("the next event", want, queue.poll(20, TimeUnit.SECONDS));
    }

    /** Fails unless what comes next is all of this, in any order. */
    static void nextOf(BlockingQueue<String> queue, String... want) throws InterruptedException {
        List<String> left = new ArrayList<>(Arrays.asList(want));
        while (!left.isEmpty()) {
            String got = queue.poll(20, TimeUnit.SECONDS);
            if (!left.remove(got)) {
                throw new AssertionError("the next event: " + got + ", want one of " + left);
            }
        }
    }

    static <T> BlockingQueue<T> queue() {
        return new LinkedBlockingQueue<>();
    }

    /** Cuts all connections; until that is over, somebody does this: "create", a path, "set", ... */
    static void outage(String... changes) throws IOException {
        System.out.println("outage " + String.join(" ", changes));
        IN.readLine();
    }
}
