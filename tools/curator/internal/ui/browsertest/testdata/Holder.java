import java.util.Scanner;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** Takes a mutex, says so, and releases it at the next line of its input. */
public class Holder {
    public static void main(String[] args) throws Exception {
        try (CuratorFramework client = CuratorFrameworkFactory.newClient(args[0], 10_000, 10_000, new RetryOneTime(100))) {
            client.start();
            InterProcessMutex mutex = new InterProcessMutex(client, args[1]);
            mutex.acquire();
            System.out.println("held");
            new Scanner(System.in).nextLine();
            mutex.release();
            System.out.println("released");
        }
    }
}
