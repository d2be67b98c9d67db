import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.apache.curator.RetryLoop;
import org.apache.curator.RetryPolicy;
import org.apache.curator.drivers.TracerDriver;
import org.apache.curator.ensemble.EnsembleProvider;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.framework.api.CuratorListener;
import org.apache.curator.framework.api.CuratorWatcher;
import org.apache.curator.framework.api.transaction.CuratorTransactionResult;
import org.apache.curator.framework.imps.GzipCompressionProvider;
import org.apache.curator.framework.recipes.cache.*;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedCountListener;
import org.apache.curator.framework.recipes.shared.SharedCountReader;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.SessionConnectionStateErrorPolicy;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Locker;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.queue.DistributedDelayQueue;
import org.apache.curator.framework.recipes.queue.DistributedPriorityQueue;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.ErrorMode;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.watch.PersistentWatcher;
import org.apache.curator.x.discovery.DownInstancePolicy;
import org.apache.curator.x.discovery.ServiceCache;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceProvider;
import org.apache.curator.x.discovery.details.ServiceCacheListener;
import org.apache.curator.x.discovery.strategies.RandomStrategy;
import org.apache.curator.x.discovery.strategies.StickyStrategy;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.curator.retry.*;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.Stat;

/** The Java of docs/migration.md: what it shows is compiled. */
abstract class Migration {
    String connectString;
    byte[] data;
    int version;
    ACLProvider privateNodes;
    TracerDriver tracerDriver;
    EnsembleProvider servers;
    QueueConsumer<String> consumer;
    QueueSerializer<String> serializer;

    abstract void run(CuratorFramework client) throws Exception;
    abstract void work() throws Exception;
    abstract void change();
    abstract void publish();
    abstract void export();
    abstract void resize(int n);
    abstract void conflict();
    abstract void busy();
    abstract void pause();
    abstract void resume();
    abstract void abandon();
    abstract void reload(String path);
    abstract void use(byte[] data);
    abstract String call();

    void connect() throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder()
            .connectString(connectString)
            .retryPolicy(new ExponentialBackoffRetry(1000, 3))
            .sessionTimeoutMs(30000)
            .build();
        client.start();
        try {
            run(client);
        } finally {
            client.close();
        }
    }

    void options() throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder()
            .connectString(connectString)
            .retryPolicy(new ExponentialBackoffRetry(1000, 3))
            .connectionTimeoutMs(5000)
            .connectionStateErrorPolicy(new SessionConnectionStateErrorPolicy())
            .compressionProvider(new GzipCompressionProvider())
            .namespace("shop")
            .build();
    }

    void provided() throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder()
            .ensembleProvider(servers)
            .retryPolicy(new ExponentialBackoffRetry(1000, 3))
            .build();
    }

    void untilConnected(CuratorFramework client) throws Exception {
        if (!client.blockUntilConnected(10, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no connection");
        }
    }

    void create(CuratorFramework client) throws Exception {
        String path = client.create()
            .creatingParentsIfNeeded()
            .withMode(CreateMode.PERSISTENT_SEQUENTIAL)
            .forPath("/jobs/new/job-", data);
        System.out.println(path); // /jobs/new/job-0000000000
    }

    void protect(CuratorFramework client) throws Exception {
        String path = client.create()
            .creatingParentContainersIfNeeded()
            .withProtection()
            .withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
            .forPath("/workers/w-");
        client.delete().guaranteed().forPath(path);
    }

    void defaults(CuratorFramework client) throws Exception {
        client.create().forPath("/address"); // the local IP address
        client.create().forPath("/empty", new byte[0]);
        client.setData().forPath("/empty"); // the local IP address
    }

    void compressed(CuratorFramework client) throws Exception {
        client.create().compressed().forPath("/page", data);
        use(client.getData().decompressed().forPath("/page"));
    }

    void compareAndSet(CuratorFramework client) throws Exception {
        try {
            client.setData().withVersion(version).forPath("/config", data);
        } catch (KeeperException.BadVersionException e) {
            conflict();
        }
    }

    void remove(CuratorFramework client) throws Exception {
        client.delete().guaranteed().deletingChildrenIfNeeded().forPath("/jobs/7");
    }

    void exists(CuratorFramework client) throws Exception {
        Stat stat = client.checkExists().forPath("/config");
        if (stat != null) {
            System.out.println(stat.getVersion());
        }
    }

    void read(CuratorFramework client) throws Exception {
        Stat stat = new Stat();
        try {
            byte[] data = client.getData().storingStatIn(stat).forPath("/config");
            System.out.println(data.length + " " + stat.getVersion());
        } catch (KeeperException.NoNodeException e) {
            // not configured
        }
    }

    void children(CuratorFramework client) throws Exception {
        for (String name : client.getChildren().forPath("/workers")) {
            System.out.println("/workers/" + name);
        }
    }

    void watchOnce(CuratorFramework client) throws Exception {
        client.getData()
            .usingWatcher((CuratorWatcher) event -> reload(event.getPath()))
            .forPath("/config");
    }

    void persistentWatch(CuratorFramework client) throws Exception {
        Watcher watcher = event -> reload(event.getPath());
        client.watchers().add().withMode(AddWatchMode.PERSISTENT_RECURSIVE).usingWatcher(watcher).forPath("/workers");
        run(client);
        client.watchers().remove(watcher).forPath("/workers");
    }

    void curatorCache(CuratorFramework client) throws Exception {
        CuratorCache workers = CuratorCache.build(client, "/workers");
        workers.listenable().addListener(CuratorCacheListener.builder()
            .forChanges((before, after) -> reload(after.getPath()))
            .forDeletes(before -> reload(before.getPath()))
            .afterInitialized()
            .build());
        workers.start();
        try {
            workers.get("/workers/1").ifPresent(node -> use(node.getData()));
            run(client);
        } finally {
            workers.close();
        }
    }

    void nodeCache(CuratorFramework client) throws Exception {
        NodeCache config = new NodeCache(client, "/config");
        config.getListenable().addListener(() -> reload("/config"));
        config.start(true);
        try {
            if (config.getCurrentData() != null) {
                use(config.getCurrentData().getData());
            }
            run(client);
        } finally {
            config.close();
        }
    }

    void pathChildrenCache(CuratorFramework client) throws Exception {
        PathChildrenCache workers = new PathChildrenCache(client, "/workers", true);
        workers.start(PathChildrenCache.StartMode.BUILD_INITIAL_CACHE);
        try {
            for (ChildData node : workers.getCurrentData()) {
                use(node.getData());
            }
            workers.getListenable().addListener((c, event) -> {
                if (event.getType() == PathChildrenCacheEvent.Type.CHILD_REMOVED) {
                    reload(event.getData().getPath());
                }
            });
            run(client);
        } finally {
            workers.close();
        }
    }

    void treeCache(CuratorFramework client) throws Exception {
        TreeCache tree = TreeCache.newBuilder(client, "/config")
            .setCacheData(false)
            .setSelector(new DefaultTreeCacheSelector() {
                @Override
                public boolean traverseChildren(String path) {
                    return !path.equals("/config/secret");
                }
            })
            .build();
        tree.getListenable().addListener((c, event) -> {
            if (event.getType() == TreeCacheEvent.Type.NODE_UPDATED) {
                use(event.getData().getData());
            }
        });
        tree.start();
        try {
            tree.getCurrentChildren("/config").keySet().forEach(this::reload);
            run(client);
        } finally {
            tree.close();
        }
    }

    void bridge(CuratorFramework client) throws Exception {
        CuratorCacheBridge cache = CuratorCache.bridgeBuilder(client, "/workers").build();
        cache.start();
        run(client);
        cache.close();
    }

    void transaction(CuratorFramework client) throws Exception {
        List<CuratorTransactionResult> results = client.transaction().forOperations(
            client.transactionOp().check().withVersion(version).forPath("/config"),
            client.transactionOp().create().forPath("/jobs/9", data),
            client.transactionOp().setData().forPath("/last", "9".getBytes()),
            client.transactionOp().delete().forPath("/jobs/8"));
        System.out.println(results.get(1).getResultPath());
    }

    void inTransaction(CuratorFramework client) throws Exception {
        client.inTransaction()
            .create().forPath("/jobs/9", data)
            .and().setData().forPath("/last", "9".getBytes())
            .and().delete().forPath("/jobs/8")
            .and().commit();
    }

    void background(CuratorFramework client) throws Exception {
        client.getData()
            .inBackground((c, event) -> {
                if (event.getResultCode() == KeeperException.Code.OK.intValue()) {
                    use(event.getData());
                }
            })
            .forPath("/config");
    }

    void outcomes(CuratorFramework client) throws Exception {
        CuratorListener listener = (c, event) -> {
            switch (event.getType()) {
                case GET_DATA: use(event.getData()); break;
                case WATCHED: reload(event.getWatchedEvent().getPath()); break;
            }
        };
        client.getCuratorListenable().addListener(listener);
        client.getData().watched().inBackground().forPath("/config");
        run(client);
        client.getCuratorListenable().removeListener(listener);
    }

    void namespace(CuratorFramework client) throws Exception {
        CuratorFramework team = client.usingNamespace("team-a");
        team.create().forPath("/config");
    }

    void listener(CuratorFramework client) throws Exception {
        ConnectionStateListener listener = (c, state) -> {
            switch (state) {
                case SUSPENDED: pause(); break;
                case LOST: abandon(); break;
                case RECONNECTED: resume(); break;
            }
        };
        client.getConnectionStateListenable().addListener(listener);
        try {
            run(client);
        } finally {
            client.getConnectionStateListenable().removeListener(listener);
        }
    }

    List<RetryPolicy> policies() {
        return Arrays.asList(
            new ExponentialBackoffRetry(1000, 3),
            new BoundedExponentialBackoffRetry(100, 5000, 10),
            new RetryNTimes(3, 1000),
            new RetryOneTime(1000),
            new RetryForever(1000),
            new RetryUntilElapsed(60000, 1000));
    }

    void retried(CuratorFramework client) throws Exception {
        RetryLoop.callWithRetry(client.getZookeeperClient(), () -> call());
    }

    void mutex(CuratorFramework client) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
        try (Locker locker = new Locker(mutex)) {
            work();
        }
    }

    void mutexByHand(CuratorFramework client) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
        mutex.acquire();
        try {
            work();
        } finally {
            mutex.release();
        }
    }

    void reentry(InterProcessMutex mutex) throws Exception {
        try (Locker outer = new Locker(mutex)) {
            try (Locker inner = new Locker(mutex)) { // at once
                work();
            }
        }
    }

    void timed(CuratorFramework client) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
        if (!mutex.acquire(5, TimeUnit.SECONDS)) {
            busy();
            return;
        }
        try {
            work();
        } finally {
            mutex.release();
        }
    }

    void revocable(CuratorFramework client) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
        mutex.makeRevocable(lock -> pause());
        mutex.acquire();
        try {
            run(client);
        } finally {
            mutex.release();
        }
    }

    void revoke(CuratorFramework client, InterProcessMutex mutex) throws Exception {
        String holder = mutex.getParticipantNodes().iterator().next();
        Revoker.attemptRevoke(client, holder);
    }

    void readWrite(CuratorFramework client) throws Exception {
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, "/locks/catalogue");
        lock.writeLock().acquire();
        try {
            change();
            lock.readLock().acquire();
        } finally {
            lock.writeLock().release();
        }
        try {
            publish();
        } finally {
            lock.readLock().release();
        }
    }

    void semaphore(CuratorFramework client) throws Exception {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, "/limits/export", 10);
        Lease lease = semaphore.acquire();
        try {
            export();
        } finally {
            semaphore.returnLease(lease);
        }
    }

    void latch(CuratorFramework client) throws Exception {
        LeaderLatch latch = new LeaderLatch(client, "/leaders/purge", "purge-1");
        latch.start();
        try {
            latch.await();
            if (latch.hasLeadership()) {
                work();
            }
        } finally {
            latch.close();
        }
    }

    void selector(CuratorFramework client) throws Exception {
        LeaderSelector selector = new LeaderSelector(client, "/leaders/billing", new LeaderSelectorListenerAdapter() {
            @Override
            public void takeLeadership(CuratorFramework client) throws Exception {
                work();
            }
        });
        selector.setId("billing-1");
        selector.autoRequeue();
        selector.start();
        try {
            run(client);
        } finally {
            selector.close();
        }
    }

    void interrupt(LeaderSelector selector) throws Exception {
        for (Participant p : selector.getParticipants()) {
            System.out.println(p.getId() + " " + p.isLeader());
        }
        if (selector.hasLeadership()) {
            selector.interruptLeadership();
        }
    }

    void sharedCount(CuratorFramework client) throws Exception {
        SharedCount limit = new SharedCount(client, "/limits/workers", 4);
        limit.addListener(new SharedCountListener() {
            @Override
            public void countHasChanged(SharedCountReader count, int newCount) {
                resize(newCount);
            }

            @Override
            public void stateChanged(CuratorFramework client, ConnectionState state) {
            }
        });
        limit.start();
        try {
            while (!limit.trySetCount(limit.getVersionedValue(), limit.getCount() + 1)) {
                busy();
            }
            run(client);
        } finally {
            limit.close();
        }
    }

    void counter(CuratorFramework client) throws Exception {
        DistributedAtomicLong orders =
            new DistributedAtomicLong(client, "/counters/orders", new RetryNTimes(10, 10));
        AtomicValue<Long> value = orders.increment();
        if (!value.succeeded()) {
            conflict();
            return;
        }
        long number = value.postValue();
    }

    void barrier(CuratorFramework client) throws Exception {
        DistributedBarrier maintenance = new DistributedBarrier(client, "/maintenance");
        maintenance.setBarrier();
        maintenance.removeBarrier();
        if (!maintenance.waitOnBarrier(10, TimeUnit.SECONDS)) {
            busy();
        }
    }

    void doubleBarrier(CuratorFramework client) throws Exception {
        DistributedDoubleBarrier step = new DistributedDoubleBarrier(client, "/step", 1);
        if (!step.enter(1, TimeUnit.MINUTES)) {
            step.leave();
            return;
        }
        try {
            export();
        } finally {
            step.leave();
        }
    }

    void shortLived(CuratorFramework client) throws Exception {
        client.create()
            .withTtl(TimeUnit.MINUTES.toMillis(10))
            .withMode(CreateMode.PERSISTENT_WITH_TTL)
            .forPath("/offer");
        client.create().withMode(CreateMode.CONTAINER).forPath("/room");
    }

    void secured() throws Exception {
        try (CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(connectString)
                .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                .authorization("digest", "app:secret".getBytes())
                .aclProvider(privateNodes)
                .build()) {
            client.start();
            client.create().withACL(ZooDefs.Ids.CREATOR_ALL_ACL).forPath("/private");
        }
    }

    void traced(CuratorFramework client) throws Exception {
        client.getZookeeperClient().setTracerDriver(tracerDriver);
    }

    void tasks(CuratorFramework client) throws Exception {
        DistributedQueue<String> tasks = QueueBuilder.builder(client, consumer, serializer, "/queues/tasks")
            .lockPath("/queues/tasks-locks")
            .buildQueue();
        tasks.start();
        try {
            tasks.put("wash");
            run(client);
        } finally {
            tasks.close();
        }
    }

    void priorities(CuratorFramework client) throws Exception {
        DistributedPriorityQueue<String> jobs = QueueBuilder.builder(client, consumer, serializer, "/queues/jobs")
            .lockPath("/queues/jobs-locks")
            .buildPriorityQueue(0);
        jobs.setErrorMode(ErrorMode.REQUEUE);
        jobs.start();
        jobs.put("sweep", 5);
        jobs.put("wash", 5);
        jobs.put("alarm", -1);
        run(client);
        jobs.close();
    }

    void timers(CuratorFramework client) throws Exception {
        try (DistributedDelayQueue<String> timers =
                QueueBuilder.builder(client, null, serializer, "/queues/timers").buildDelayQueue()) {
            timers.start();
            timers.put("remind", System.currentTimeMillis() + TimeUnit.HOURS.toMillis(1));
        }
    }

    void simpleQueue(CuratorFramework client) throws Exception {
        SimpleDistributedQueue simple = new SimpleDistributedQueue(client, "/queues/simple");
        simple.offer(data);
        byte[] taken = simple.poll(5, TimeUnit.SECONDS);
        if (taken == null) {
            busy();
        } else {
            use(taken);
        }
    }

    void services(CuratorFramework client) throws Exception {
        ServiceDiscovery<String> registry = ServiceDiscoveryBuilder.builder(String.class)
            .client(client)
            .basePath("/services")
            .build();
        registry.start();
        registry.registerService(ServiceInstance.<String>builder()
            .name("orders").address("10.0.0.7").port(8080).payload("north")
            .build());

        ServiceProvider<String> orders = registry.serviceProviderBuilder().serviceName("orders").build();
        orders.start();
        ServiceInstance<String> instance = orders.getInstance();
        if (instance == null) {
            busy();
        } else {
            use(instance.getPayload().getBytes());
        }
        orders.close();
        registry.close();
    }

    void providers(ServiceDiscovery<String> registry) throws Exception {
        ServiceProvider<String> orders = registry.serviceProviderBuilder()
            .serviceName("orders")
            .providerStrategy(new StickyStrategy<>(new RandomStrategy<>()))
            .additionalFilter(i -> i.getPayload().equals("north"))
            .downInstancePolicy(new DownInstancePolicy(30, TimeUnit.SECONDS, 3))
            .build();
        orders.start();
        ServiceInstance<String> instance = orders.getInstance();
        try {
            call();
        } catch (Exception e) {
            orders.noteError(instance);
            throw e;
        } finally {
            orders.close();
        }
    }

    void serviceCache(ServiceDiscovery<String> registry) throws Exception {
        ServiceCache<String> orders = registry.serviceCacheBuilder().name("orders").build();
        orders.addListener(new ServiceCacheListener() {
            @Override
            public void cacheChanged() {
                resize(orders.getInstances().size());
            }

            @Override
            public void stateChanged(CuratorFramework client, ConnectionState state) {
            }
        });
        orders.start();
    }

    void kept(CuratorFramework client) throws Exception {
        PersistentNode node = new PersistentNode(client, CreateMode.EPHEMERAL, false, "/addresses/store", data);
        node.start();
        try {
            if (!node.waitForInitialCreate(10, TimeUnit.SECONDS)) {
                abandon();
            }
            run(client);
        } finally {
            node.close();
        }
    }

    void member(CuratorFramework client) throws Exception {
        GroupMember member = new GroupMember(client, "/group", "worker-1", data);
        member.start();
        try {
            use(member.getCurrentMembers().get("worker-1"));
        } finally {
            member.close();
        }
    }

    void persistentWatcher(CuratorFramework client) throws Exception {
        PersistentWatcher watcher = new PersistentWatcher(client, "/orders", true);
        watcher.getListenable().addListener(event -> reload(event.getPath()));
        watcher.getResetListenable().addListener(() -> reload("/orders"));
        watcher.start();
        try {
            run(client);
        } finally {
            watcher.close();
        }
    }
}
