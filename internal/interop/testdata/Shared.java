import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicInteger;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.shared.SharedValue;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.apache.curator.retry.RetryNTimes;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Shared has the values, numbers and barriers of one Peer; its thread uses them. */
final class Shared {
    private final CuratorFramework client;
    private final Map<String, SharedValue> values = new HashMap<>();
    private final Map<String, DistributedDoubleBarrier> doubles = new HashMap<>();

    Shared(CuratorFramework client) {
        this.client = client;
    }

    /** The argument of all commands is the path. */
    String run(String[] request) throws Exception {
        String path = request[3];
        switch (request[2]) {
            case "sharedGet":
                return new String(value(path).getValue(), UTF_8);
            case "sharedSet":
                value(path).setValue(request[4].getBytes(UTF_8));
                return "";
            case "sharedTry": // from the value that is known
                VersionedValue<byte[]> previous = value(path).getVersionedValue();
                return Boolean.toString(value(path).trySetValue(previous, request[4].getBytes(UTF_8)));
            case "atomicAdd": // a number of additions of one
                for (int left = Integer.parseInt(request[4]); left > 0; left--) {
                    AtomicValue<Long> added = number(path).increment();
                    if (!added.succeeded()) {
                        throw new IllegalStateException("not added");
                    }
                }
                return "";
            case "atomicGet":
                return Long.toString(number(path).get().postValue());
            case "atomicSet":
                number(path).forceSet(Long.parseLong(request[4]));
                return "";
            case "atomicSwap":
                return Boolean.toString(number(path)
                        .compareAndSet(Long.parseLong(request[4]), Long.parseLong(request[5])).succeeded());
            case "atomicInitialize":
                return Boolean.toString(number(path).initialize(Long.parseLong(request[4])));
            case "atomicShort": // adds to a number of four bytes
                DistributedAtomicInteger small = new DistributedAtomicInteger(client, path, new RetryNTimes(10, 1));
                return Integer.toString(small.add(Integer.parseInt(request[4])).postValue());
            case "barrierSet":
                new DistributedBarrier(client, path).setBarrier();
                return "";
            case "barrierRemove":
                new DistributedBarrier(client, path).removeBarrier();
                return "";
            case "barrierWait":
                new DistributedBarrier(client, path).waitOnBarrier();
                return "";
            case "doubleEnter": // the number of members
                DistributedDoubleBarrier member = new DistributedDoubleBarrier(client, path, Integer.parseInt(request[4]));
                doubles.put(path, member);
                return Boolean.toString(member.enter(30, TimeUnit.SECONDS));
            case "doubleLeave":
                return Boolean.toString(doubles.remove(path).leave(30, TimeUnit.SECONDS));
            default:
                throw new IllegalArgumentException(request[2]);
        }
    }

    private SharedValue value(String path) throws Exception {
        SharedValue value = values.get(path);
        if (value == null) {
            value = new SharedValue(client, path, "java".getBytes(UTF_8));
            value.start();
            values.put(path, value);
        }
        return value;
    }

    private DistributedAtomicLong number(String path) {
        return new DistributedAtomicLong(client, path, new RetryNTimes(1000, 1));
    }
}
