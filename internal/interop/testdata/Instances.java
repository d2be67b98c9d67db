import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceType;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;
import org.springframework.cloud.zookeeper.discovery.ZookeeperInstance;

/**
 * Instances reads and writes instances of services as Curator's JsonInstanceSerializer does.
 *
 * <p>A line of the input is a command and its arguments. The line of the output is the answer in
 * base 64, or "!" and an exception.
 */
public final class Instances {
    private static final String URI = "{scheme}://{address}:{port}";

    private Instances() {}

    /** Place is a payload. */
    public static class Place {
        public String zone;
        public double load;
        public int weight;
        public long since;
        public List<String> tags;
        public Map<String, Double> shares;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = Base64.getEncoder().encodeToString(run(line.split(" ")));
            } catch (Exception | LinkageError e) {
                answer = "! " + e.toString().replace('\n', ' ');
            }
            System.out.println(answer);
        }
    }

    private static byte[] run(String[] words) throws Exception {
        switch (words[0]) {
            case "write": // the name of a vector, and whether there is the key enabled
                return serializer(Object.class, words[2]).serialize(vector(words[1]));
            case "read": // the class of payloads, whether there is the key enabled, what to read
                JsonInstanceSerializer<Object> serializer = serializer(Class.forName(words[1]), words[2]);
                return serializer.serialize(serializer.deserialize(Base64.getDecoder().decode(words[3])));
            case "spring": // an instance; the answer is what Spring Cloud ZooKeeper takes from it
                ServiceInstance<?> found = serializer(ZookeeperInstance.class, "false").deserialize(Base64.getDecoder().decode(words[1]));
                Integer port = found.getSslPort() != null ? found.getSslPort() : found.getPort();
                String status = ((ZookeeperInstance) found.getPayload()).getMetadata().get("instance_status");
                return String.join(" ", found.getAddress(), String.valueOf(port.intValue()),
                        java.net.URI.create(found.buildUriSpec()).toString(), status).getBytes(UTF_8);
            case "uri": // the template, an instance, and variables as key=value
                ServiceInstance<Object> i = serializer(Object.class, "true").deserialize(Base64.getDecoder().decode(words[2]));
                Map<String, Object> variables = new HashMap<>();
                for (String word : Arrays.asList(words).subList(3, words.length)) {
                    variables.put(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
                }
                return new UriSpec(new String(Base64.getDecoder().decode(words[1]), UTF_8)).build(i, variables).getBytes(UTF_8);
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static JsonInstanceSerializer<Object> serializer(Class<?> payloads, String enabledKey) {
        return new JsonInstanceSerializer(payloads, !Boolean.parseBoolean(enabledKey));
    }

    private static ServiceInstance<Object> vector(String name) {
        switch (name) {
            case "empty":
                return new ServiceInstance<>("foo", "id", null, null, null, null, 0, ServiceType.DYNAMIC, null);
            case "full":
                return new ServiceInstance<>("foo", "id1", "1.2.3.4", 10, 11, "pay", 1325129459728L, ServiceType.DYNAMIC, new UriSpec(URI));
            case "disabled":
                return new ServiceInstance<>("foo", "id1", "1.2.3.4", 10, null, "pay", 1325129459728L, ServiceType.DYNAMIC, null, false);
            case "static":
                return typed(ServiceType.STATIC);
            case "permanent":
                return typed(ServiceType.PERMANENT);
            case "sequential":
                return typed(ServiceType.DYNAMIC_SEQUENTIAL);
            case "template":
                return new ServiceInstance<>("foo", "id", null, null, null, null, 0, ServiceType.STATIC, new UriSpec("{[}{ name }{]}/{other}{}a b"));
            case "no-template":
                return new ServiceInstance<>("foo", "id", null, null, null, null, 0, ServiceType.STATIC, new UriSpec(""));
            case "spring":
                ZookeeperInstance spring = new ZookeeperInstance("orders-1", "orders", new LinkedHashMap<>());
                spring.getMetadata().put("instance_status", "UP");
                spring.getMetadata().put("zone", "north");
                return new ServiceInstance<>("orders", "0a1b2c3d-0000-4000-8000-123456789abc", "10.0.0.7", 8080, null, spring,
                        1700000000123L, ServiceType.DYNAMIC, new UriSpec(URI));
            default:
                return new ServiceInstance<>("foo", "id", "host", 1, null, payload(name), 1, ServiceType.DYNAMIC, null);
        }
    }

    private static ServiceInstance<Object> typed(ServiceType type) {
        return new ServiceInstance<>("foo", "id", "host", 1, null, null, 1, type, null);
    }

    private static Object payload(String name) {
        switch (name) {
            case "text":
                return "gr\u00fc\u00dfe \u65e5\u672c \ud83d\ude00 \"quoted\" \\ / < > & ' \u2028\u007f\u0000\u001f\b\t\n\f\r";
            case "bool":
                return true;
            case "int":
                return -5;
            case "long":
                return 5L;
            case "large":
                return 5_000_000_000L;
            case "double":
                return 1.5;
            case "float":
                return 0.1f;
            case "bytes":
                return new byte[] {1, 2, -1};
            case "list":
                return new ArrayList<>(Arrays.asList("a", "b"));
            case "none":
                return null;
            case "array":
                return new String[] {"a"};
            case "date":
                return new Date(0);
            case "map":
                Map<String, Object> map = new LinkedHashMap<>();
                map.put("a", 1);
                map.put("b", 5_000_000_000L);
                map.put("c", 2.0);
                map.put("d", Arrays.asList(1, "x", null));
                map.put("e", Collections.singletonMap("f", 1e21));
                return map;
            case "no-members":
                return new LinkedHashMap<>();
            case "place":
                Place place = new Place();
                place.zone = "north";
                place.load = 100;
                place.weight = 3;
                place.since = 5_000_000_000L;
                place.tags = Arrays.asList("a", "b");
                place.shares = new LinkedHashMap<>();
                place.shares.put("x", 0.5);
                place.shares.put("y", 1.0);
                return place;
            case "no-place":
                return new Place();
            default:
                return Double.valueOf(name); // a number
        }
    }
}
