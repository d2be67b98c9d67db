import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.state.ConnectionState;

/** Queues has the workloads with queues, whose items are texts. */
final class Queues {
    private Queues() {}

    private static DistributedQueue<String> build(CuratorFramework client, Request r, QueueConsumer<String> consumer) {
        QueueBuilder<String> builder =
                QueueBuilder.builder(client, consumer, new Texts(), r.path).putInBackground(false);
        if (r.leases > 0) {
            builder.lockPath(r.path + "-locks");
        }
        return builder.buildQueue();
    }

    /** One client puts items, one after the other. */
    static DistributedQueue<String> producer(CuratorFramework client, Request r) throws Exception {
        DistributedQueue<String> queue = build(client, r, null);
        queue.start();
        return queue;
    }

    /** One client consumes as many items as there are waiters. */
    static Result consume(CuratorFramework client, Request r) throws Exception {
        try (DistributedQueue<String> producer = producer(client, r)) {
            for (int i = 0; i < r.waiters; i++) {
                producer.put("item");
            }
        }
        Counter counter = new Counter(r.waiters);
        try (DistributedQueue<String> queue = build(client, r, counter)) {
            long begin = System.nanoTime();
            counter.last = begin;
            queue.start();
            if (!counter.done.await(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the queue was not drained");
            }
            // The last item is removed after its function, as it is for the peer in Go.
            while (!client.getChildren().forPath(r.path).isEmpty()) {
                Thread.yield();
            }
            return new Result(r.waiters, System.nanoTime() - begin, counter.gaps);
        }
    }

    private static final class Counter implements QueueConsumer<String> {
        final CountDownLatch done = new CountDownLatch(1);
        final long[] gaps;
        volatile long last;
        private int seen;

        Counter(int items) {
            gaps = new long[items];
        }

        @Override
        public void consumeMessage(String item) {
            long now = System.nanoTime();
            gaps[seen++] = now - last;
            last = now;
            if (seen == gaps.length) {
                done.countDown();
            }
        }

        @Override
        public void stateChanged(CuratorFramework client, ConnectionState state) {}
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
}
