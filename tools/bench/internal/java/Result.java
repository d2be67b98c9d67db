import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Result is a line of the output. */
final class Result {
    static final int MAX_LATENCIES = 100_000;

    private final long operations;
    private final long elapsed;
    private final long[] latencies;

    Result(long operations, long elapsed, long[] latencies) {
        this.operations = operations;
        this.elapsed = elapsed;
        this.latencies = latencies;
    }

    String json() {
        int n = Math.min(latencies.length, MAX_LATENCIES);
        String sample = LongStream.range(0, n)
                .mapToObj(i -> Long.toString(latencies[(int) (i * latencies.length / n)]))
                .collect(Collectors.joining(","));
        return "{\"operations\":" + operations + ",\"elapsed_ns\":" + elapsed
                + ",\"latencies_ns\":[" + sample + "],\"error\":\"\"}";
    }

    static String error(Throwable e) {
        String text = e instanceof UnsupportedOperationException ? e.getMessage() : e.toString();
        return "{\"error\":\"" + text.replaceAll("[\"\\\\\\p{Cntrl}]", " ") + "\"}";
    }
}
