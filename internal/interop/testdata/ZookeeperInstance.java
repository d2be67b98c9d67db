package org.springframework.cloud.zookeeper.discovery;

import java.util.Map;

/** ZookeeperInstance has the name and the properties of the payload that Spring Cloud ZooKeeper registers. */
public class ZookeeperInstance {
    private String id;
    private String name;
    private Map<String, String> metadata;

    private ZookeeperInstance() {}

    public ZookeeperInstance(String id, String name, Map<String, String> metadata) {
        this.id = id;
        this.name = name;
        this.metadata = metadata;
    }

    public String getId() {
        return id;
    }

    public String getName() {
        return name;
    }

    public Map<String, String> getMetadata() {
        return metadata;
    }

    public void setId(String id) {
        this.id = id;
    }

    public void setName(String name) {
        this.name = name;
    }

    public void setMetadata(Map<String, String> metadata) {
        this.metadata = metadata;
    }
}
