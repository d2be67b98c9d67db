import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.DistributedDelayQueue;
import org.apache.curator.framework.recipes.queue.DistributedIdQueue;
import org.apache.curator.framework.recipes.queue.DistributedPriorityQueue;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.MultiItem;
import org.apache.curator.framework.recipes.queue.QueueBase;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.state.ConnectionState;

/** Queues has the queues of one Peer, whose items are texts. */
final class Queues {
    private final CuratorFramework client;
    private final Map<String, Consumer> consumers = new ConcurrentHashMap<>();

    Queues(CuratorFramework client) {
        this.client = client;
    }

    /** The arguments of most are the path, the kind and the lock path, which is "-" for none. */
    String run(String[] request) throws Exception {
        String path = request[3];
        switch (request[2]) {
            case "queuePut": // the id, priority or time, and items separated by commas
                try (QueueBase<String> queue = build(path, request[4], request[5], null)) {
                    queue.start();
                    put(queue, request[6], request[7].split(",", -1));
                }
                return "";
            case "queueRemove": // the id
                try (DistributedIdQueue<String> queue = (DistributedIdQueue<String>) build(path, "id", request[4], null)) {
                    queue.start();
                    return Integer.toString(queue.remove(request[5]));
                }
            case "queueConsume": // an item that fails once, and one that is then held for ever
                Consumer consumer = new Consumer();
                consumer.failing.add(request[6]);
                consumer.held = request[7];
                consumers.put(path, consumer);
                consumer.queue = build(path, request[4], request[5], consumer);
                consumer.queue.start();
                return "";
            case "queueTaken": // how many to wait for
                return consumers.get(path).await(Integer.parseInt(request[4]));
            case "queueStop":
                consumers.remove(path).queue.close();
                return "";
            case "queueOffer":
                return Boolean.toString(simple(path).offer(request[4].getBytes(UTF_8)));
            case "queuePoll": // answers nothing when it is empty
                return text(simple(path).poll(Long.parseLong(request[4]), TimeUnit.MILLISECONDS));
            default:
                throw new IllegalArgumentException(request[2]);
        }
    }

    private SimpleDistributedQueue simple(String path) {
        return new SimpleDistributedQueue(client, path);
    }

    private static String text(byte[] data) {
        return data == null ? "" : new String(data, UTF_8);
    }

    private QueueBase<String> build(String path, String kind, String lockPath, QueueConsumer<String> consumer) {
        QueueBuilder<String> builder =
                QueueBuilder.builder(client, consumer, new Texts(), path).putInBackground(false);
        if (!lockPath.equals("-")) {
            builder.lockPath(lockPath);
        }
        switch (kind) {
            case "id":
                return builder.buildIdQueue();
            case "priority":
                return builder.buildPriorityQueue(0);
            case "delay":
                return builder.buildDelayQueue();
            default:
                return builder.buildQueue();
        }
    }

    private static void put(QueueBase<String> queue, String mark, String[] items) throws Exception {
        boolean one = items.length == 1;
        if (queue instanceof DistributedIdQueue) {
            ((DistributedIdQueue<String>) queue).put(items[0], mark);
        } else if (queue instanceof DistributedPriorityQueue) {
            int priority = Integer.parseInt(mark);
            if (one) {
                ((DistributedPriorityQueue<String>) queue).put(items[0], priority);
            } else {
                ((DistributedPriorityQueue<String>) queue).putMulti(multi(items), priority);
            }
        } else if (queue instanceof DistributedDelayQueue) {
            long due = Long.parseLong(mark);
            if (one) {
                ((DistributedDelayQueue<String>) queue).put(items[0], due);
            } else {
                ((DistributedDelayQueue<String>) queue).putMulti(multi(items), due);
            }
        } else if (one) {
            ((DistributedQueue<String>) queue).put(items[0]);
        } else {
            ((DistributedQueue<String>) queue).putMulti(multi(items));
        }
    }

    private static MultiItem<String> multi(String[] items) {
        Iterator<String> rest = Arrays.asList(items).iterator();
        return () -> rest.hasNext() ? rest.next() : null;
    }

    private static final class Texts implements QueueSerializer<String> {
        @Override
        public byte[] serialize(String item) {
            return item.getBytes(UTF_8);
        }

        @Override
        public String deserialize(byte[] bytes) {
            return new String(bytes, UTF_8);
        }
    }

    /** A consumer that keeps what it gets. */
    private static final class Consumer implements QueueConsumer<String> {
        final Set<String> failing = ConcurrentHashMap.newKeySet();
        String held;
        private final List<String> taken = new ArrayList<>();
        QueueBase<String> queue;

        @Override
        public void consumeMessage(String item) throws Exception {
            synchronized (this) {
                taken.add(item);
                notifyAll();
            }
            if (failing.remove(item)) {
                throw new Exception("once");
            }
            if (held.equals(item)) {
                Thread.sleep(Long.MAX_VALUE);
            }
        }

        @Override
        public void stateChanged(CuratorFramework client, ConnectionState state) {}

        synchronized String await(int n) throws InterruptedException {
            while (taken.size() < n) {
                wait();
            }
            return String.join(",", taken);
        }
    }
}
