import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;

/** Latencies keeps how long operations took: all while there is room, then a random choice. */
final class Latencies {
    private final long[] samples;
    private long seen;

    Latencies(int room) {
        samples = new long[room];
    }

    void add(long nanos) {
        seen++;
        long i = seen <= samples.length ? seen - 1 : ThreadLocalRandom.current().nextLong(seen);
        if (i < samples.length) {
            samples[(int) i] = nanos;
        }
    }

    /** Returns how many there were. */
    long seen() {
        return seen;
    }

    LongStream kept() {
        return Arrays.stream(samples, 0, (int) Math.min(seen, samples.length));
    }
}
