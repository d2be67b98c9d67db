import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Request is a line of the input: a JSON object without objects in it. */
final class Request {
    private static final Pattern FIELD = Pattern.compile("\"(\\w+)\"\\s*:\\s*(?:\"([^\"\\\\]*)\"|(-?\\d+))");

    final String workload;
    final int clients;
    final int waiters;
    final int leases;
    final int writes;
    final String path;
    final long warmupNanos;
    final long durationNanos;
    final int timeoutMillis;

    Request(String line) {
        Map<String, String> fields = new HashMap<>();
        for (Matcher m = FIELD.matcher(line); m.find(); ) {
            fields.put(m.group(1), m.group(2) != null ? m.group(2) : m.group(3));
        }
        workload = fields.getOrDefault("workload", "");
        clients = Math.max(1, Integer.parseInt(fields.getOrDefault("clients", "1")));
        waiters = Integer.parseInt(fields.getOrDefault("waiters", "0"));
        leases = Integer.parseInt(fields.getOrDefault("leases", "0"));
        writes = Integer.parseInt(fields.getOrDefault("writes", "0"));
        path = fields.get("path");
        warmupNanos = 1_000_000 * Long.parseLong(fields.getOrDefault("warmup_ms", "0"));
        durationNanos = 1_000_000 * Long.parseLong(fields.getOrDefault("duration_ms", "0"));
        timeoutMillis = Integer.parseInt(fields.getOrDefault("timeout_ms", "0"));
    }
}
