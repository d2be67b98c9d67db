import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.retry.RetryNTimes;

/** SharedOperations has the workloads with numbers and barriers. */
final class SharedOperations {
    private SharedOperations() {}

    /** Adds one to a number. */
    static Operation increment(CuratorFramework client, String path) {
        DistributedAtomicLong number = new DistributedAtomicLong(client, path, new RetryNTimes(10000, 1));
        return () -> {
            if (!number.increment().succeeded()) {
                throw new IllegalStateException("the number was not changed");
            }
        };
    }

    /** Has the clients enter and leave together, at another path in each round. */
    static Result rounds(List<CuratorFramework> clients, ExecutorService threads, Request r) throws Exception {
        play(clients, threads, r.path + "/warm-up", r.warmupNanos);
        long begin = System.nanoTime();
        long[] latencies = play(clients, threads, r.path + "/round", r.durationNanos);
        return new Result(latencies.length, System.nanoTime() - begin, latencies);
    }

    private static long[] play(List<CuratorFramework> clients, ExecutorService threads, String path, long nanos) throws Exception {
        Referee referee = new Referee(System.nanoTime() + nanos);
        List<Future<long[]>> playing = new ArrayList<>();
        for (CuratorFramework client : clients) {
            playing.add(threads.submit(() -> {
                LongStream.Builder took = LongStream.builder();
                for (int round = 0; referee.again(round); round++) {
                    long begin = System.nanoTime();
                    DistributedDoubleBarrier barrier = new DistributedDoubleBarrier(client, path + "-" + round, clients.size());
                    if (!barrier.enter(30, TimeUnit.SECONDS) || !barrier.leave(30, TimeUnit.SECONDS)) {
                        throw new IllegalStateException("a member waits for ever");
                    }
                    took.add(System.nanoTime() - begin);
                }
                return took.build().toArray();
            }));
        }
        LongStream all = LongStream.empty();
        for (Future<long[]> one : playing) {
            all = LongStream.concat(all, LongStream.of(one.get()));
        }
        return all.toArray();
    }

    /** Referee decides for all members alike whether there is another round. */
    private static final class Referee {
        private final long end;
        private final List<Boolean> rounds = new ArrayList<>();

        Referee(long end) {
            this.end = end;
        }

        synchronized boolean again(int round) {
            if (round == rounds.size()) {
                rounds.add(System.nanoTime() - end < 0);
            }
            return rounds.get(round);
        }
    }
}
