import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceProvider;

/** Discoveries has the workloads of the service discovery. The instances are those of the peer in Go. */
final class Discoveries implements AutoCloseable {
    private static final int CHOICES_AT_ONCE = 1_000;

    private final ServiceDiscovery<String> registry;
    private ServiceProvider<String> provider;

    Discoveries(CuratorFramework client, String path, int instances) throws Exception {
        registry = ServiceDiscoveryBuilder.builder(String.class).client(client).basePath(path).build();
        registry.start();
        for (int i = 0; i < instances; i++) {
            registry.registerService(instance(i));
        }
    }

    private static ServiceInstance<String> instance(int n) throws Exception {
        return ServiceInstance.<String>builder()
                .name("orders")
                .id(String.format("%06d", n))
                .address("10.0.0.7")
                .port(8080)
                .payload("north")
                .build();
    }

    /** One client registers an instance and unregisters it. */
    Operation register() throws Exception {
        ServiceInstance<String> instance = instance(1);
        return () -> {
            registry.registerService(instance);
            registry.unregisterService(instance);
        };
    }

    /** One client chooses from a few instances, many times. */
    Operation choose() throws Exception {
        provider = registry.serviceProviderBuilder().serviceName("orders").build();
        provider.start();
        return () -> {
            for (int i = 0; i < CHOICES_AT_ONCE; i++) {
                if (provider.getInstance() == null) {
                    throw new IllegalStateException("no instance");
                }
            }
        };
    }

    /** One client queries all instances. */
    Operation query(int instances) {
        return () -> {
            if (registry.queryForInstances("orders").size() != instances) {
                throw new IllegalStateException("not all instances");
            }
        };
    }

    @Override
    public void close() throws Exception {
        registry.close();
    }
}
