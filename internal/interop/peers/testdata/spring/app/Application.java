package app;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.client.ServiceInstance;
import org.springframework.cloud.client.discovery.DiscoveryClient;
import org.springframework.cloud.client.loadbalancer.LoadBalancerClient;
import org.springframework.cloud.zookeeper.serviceregistry.ZookeeperRegistration;
import org.springframework.cloud.zookeeper.serviceregistry.ZookeeperServiceRegistry;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Application is a service that Spring Cloud Zookeeper registers. It tells which other ones it finds, and calls them. */
@SpringBootApplication
@RestController
public class Application {
    private final DiscoveryClient discovery;
    private final LoadBalancerClient balancer;
    private final ZookeeperServiceRegistry registry;
    private final ZookeeperRegistration registration;

    public Application(DiscoveryClient discovery, LoadBalancerClient balancer, ZookeeperServiceRegistry registry, ZookeeperRegistration registration) {
        this.discovery = discovery;
        this.balancer = balancer;
        this.registry = registry;
        this.registration = registration;
    }

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @GetMapping("/hello")
    public String hello() {
        return "hello from Spring";
    }

    @GetMapping("/services")
    public String services() {
        return String.join(" ", new TreeSet<>(discovery.getServices()));
    }

    /** The id, the URI and the metadata of each instance. */
    @GetMapping("/instances/{service}")
    public String instances(@PathVariable String service) {
        return discovery.getInstances(service).stream()
                .map(i -> i.getInstanceId() + " " + i.getUri() + " " + i.getMetadata())
                .collect(Collectors.joining("\n"));
    }

    /** Calls an instance that Spring's load balancer chooses, and tells its answer. */
    @GetMapping("/call/{service}")
    public String call(@PathVariable String service) throws Exception {
        ServiceInstance chosen = balancer.choose(service);
        if (chosen == null) {
            return "none";
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create(chosen.getUri() + "/hello")).build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
    }

    @GetMapping("/status/{status}")
    public String status(@PathVariable String status) {
        registry.setStatus(registration, status);
        return status;
    }
}
