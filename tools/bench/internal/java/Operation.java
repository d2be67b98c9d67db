import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** Operation is one operation of a client. Its methods are called by one thread. */
interface Operation {
    void run() throws Exception;

    /** Comes before it is repeated. */
    default void begin() throws Exception {}

    /** Comes after it was repeated. */
    default void end() throws Exception {}

    static Operation of(InterProcessMutex lock) {
        return () -> {
            lock.acquire();
            lock.release();
        };
    }

    static Operation mutex(CuratorFramework client, String path) {
        return of(new InterProcessMutex(client, path));
    }

    static Operation latch(CuratorFramework client, String path) {
        return () -> {
            LeaderLatch latch = new LeaderLatch(client, path);
            latch.start();
            latch.await();
            latch.close();
        };
    }

    /** An operation that is repeated while a lock is held. */
    static Operation under(InterProcessMutex held, Operation operation) {
        return new Operation() {
            @Override
            public void begin() throws Exception {
                held.acquire();
            }

            @Override
            public void run() throws Exception {
                operation.run();
            }

            @Override
            public void end() throws Exception {
                held.release();
            }
        };
    }

    static Operation reentry(InterProcessMutex lock) {
        return under(lock, of(lock));
    }

    static Operation tried(CuratorFramework client, String path, boolean free) {
        InterProcessMutex lock = new InterProcessMutex(client, path);
        return () -> {
            if (lock.acquire(0, TimeUnit.SECONDS) != free) {
                throw new IllegalStateException("the lock is not as free as it should be");
            }
            if (free) {
                lock.release();
            }
        };
    }

    static Operation mix(CuratorFramework client, String path, int writes) {
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
        Operation read = of(lock.readLock());
        Operation write = of(lock.writeLock());
        return () -> (ThreadLocalRandom.current().nextInt(100) < writes ? write : read).run();
    }

    static Operation semaphore(CuratorFramework client, String path, int leases) {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, leases);
        return () -> semaphore.returnLease(semaphore.acquire());
    }

    /** The least that a lock can do: no retry, no namespace, no list. */
    static Operation floor(CuratorFramework client, String path) throws Exception {
        ZooKeeper zooKeeper = client.getZookeeperClient().getZooKeeper();
        return () -> zooKeeper.delete(
                zooKeeper.create(path + "/n-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL), -1);
    }
}
