import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.x.discovery.ServiceCache;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceProvider;
import org.apache.curator.x.discovery.ServiceType;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;

/** Discoveries has the registries of one Peer, by their paths; payloads are texts. Its thread uses it. */
final class Discoveries {
    private final CuratorFramework client;
    private final Map<String, ServiceDiscovery<String>> registries = new HashMap<>();
    private final Map<String, ServiceCache<String>> caches = new HashMap<>();
    private final Map<String, ServiceProvider<String>> providers = new HashMap<>();
    private final Map<String, ServiceInstance<String>> registered = new HashMap<>();

    /** Is open when the listeners of the client's first connection have been called. */
    private final CountDownLatch connected = new CountDownLatch(1);

    /** The client is not started yet. */
    Discoveries(CuratorFramework client) {
        this.client = client;
        client.getConnectionStateListenable().addListener((c, state) -> {
            if (state.isConnected()) {
                connected.countDown();
            }
        });
    }

    /** The arguments of most are the path of the registry and the name of a service. */
    String run(String[] request) throws Exception {
        String base = request[3];
        String name = request.length > 4 ? request[4] : null;
        switch (request[2]) {
            case "discoveryRegister": // the id, the port, the payload, the type
                registry(base).registerService(instance(name, request));
                return "";
            case "discoveryUpdate":
                registry(base).updateService(instance(name, request));
                return "";
            case "discoveryUnregister": // the id
                registry(base).unregisterService(registered.remove(name + "/" + request[5]));
                return "";
            case "discoveryNames":
                return String.join(" ", new TreeSet<>(registry(base).queryForNames()));
            case "discoveryQuery":
                return text(registry(base).queryForInstances(name));
            case "discoveryOne": // the name of the node
                ServiceInstance<String> one = registry(base).queryForInstance(name, request[5]);
                return one == null ? "" : text(List.of(one));
            case "discoveryWatch":
                ServiceCache<String> cache = registry(base).serviceCacheBuilder().name(name).build();
                cache.start();
                caches.put(base + "/" + name, cache);
                ServiceProvider<String> provider = registry(base).serviceProviderBuilder().serviceName(name).build();
                provider.start();
                providers.put(base + "/" + name, provider);
                return "";
            case "discoveryCached":
                return text(caches.get(base + "/" + name).getInstances());
            case "discoveryProvided":
                return text(providers.get(base + "/" + name).getAllInstances());
            case "discoveryClose":
                for (ServiceCache<String> c : caches.values()) {
                    c.close();
                }
                registries.remove(base).close();
                return "";
            default:
                throw new IllegalArgumentException(request[2]);
        }
    }

    private ServiceDiscovery<String> registry(String base) throws Exception {
        ServiceDiscovery<String> registry = registries.get(base);
        if (registry == null) {
            connected.await(); // a registry that is told of it makes all of its nodes anew
            registry = ServiceDiscoveryBuilder.builder(String.class)
                    .client(client)
                    .basePath(base)
                    .serializer(new JsonInstanceSerializer<>(String.class, false))
                    .build();
            registry.start();
            registries.put(base, registry);
        }
        return registry;
    }

    private ServiceInstance<String> instance(String name, String[] request) throws Exception {
        ServiceInstance<String> instance = ServiceInstance.<String>builder()
                .name(name)
                .id(request[5])
                .address("10.0.0.7")
                .port(Integer.parseInt(request[6]))
                .payload(request[7])
                .registrationTimeUTC(1)
                .serviceType(ServiceType.valueOf(request[8]))
                .uriSpec(new UriSpec("{scheme}://{address}:{port}"))
                .build();
        registered.put(name + "/" + request[5], instance);
        return instance;
    }

    /** The instances in order, each as its URI, its id, its payload and whether it is enabled. */
    private static String text(Collection<ServiceInstance<String>> instances) {
        TreeSet<String> lines = new TreeSet<>();
        for (ServiceInstance<String> i : instances) {
            lines.add(i.getId() + "=" + i.buildUriSpec() + "," + i.getPayload() + "," + i.getServiceType() + "," + i.isEnabled());
        }
        return String.join(" ", lines);
    }
}
