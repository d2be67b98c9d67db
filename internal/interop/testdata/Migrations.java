import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.TransactionCreateBuilder2;
import org.apache.curator.framework.imps.ExtractingCuratorOp;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/**
 * Migrations prints the hashes of migrations, as the manager in curator-x-async makes them.
 *
 * <p>A line of the input is a migration, of operations with spaces between them:
 *
 * <pre>
 * create:PATH:DATA:MODE:TTL:PERMS/SCHEME/ID+PERMS/SCHEME/ID
 * setData:PATH:DATA:VERSION
 * delete:PATH:VERSION
 * check:PATH:VERSION
 * </pre>
 *
 * Paths, schemes and ids are escaped as in a URL, data is in base 64. No operation is sent.
 */
public final class Migrations {
    private Migrations() {}

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        try (CuratorFramework client = CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(1))) {
            client.start();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                MessageDigest digest = MessageDigest.getInstance("SHA-256");
                for (String op : line.split(" ")) {
                    if (!op.isEmpty()) {
                        ((ExtractingCuratorOp) operation(client, op.split(":", -1))).addToDigest(digest);
                    }
                }
                StringBuilder hex = new StringBuilder();
                for (byte b : digest.digest()) {
                    hex.append(String.format("%02x", b));
                }
                System.out.println(hex);
            }
        }
    }

    private static CuratorOp operation(CuratorFramework client, String[] op) throws Exception {
        String path = URLDecoder.decode(op[1], "UTF-8");
        switch (op[0]) {
            case "create":
                return create(client, op, path);
            case "setData":
                return client.transactionOp().setData().withVersion(Integer.parseInt(op[3])).forPath(path, data(op[2]));
            case "delete":
                return client.transactionOp().delete().withVersion(Integer.parseInt(op[2])).forPath(path);
            default:
                return client.transactionOp().check().withVersion(Integer.parseInt(op[2])).forPath(path);
        }
    }

    private static CuratorOp create(CuratorFramework client, String[] op, String path) throws Exception {
        TransactionCreateBuilder2<CuratorOp> builder = client.transactionOp().create();
        if (!op[4].isEmpty()) {
            builder = client.transactionOp().create().withTtl(Long.parseLong(op[4]));
        }
        CreateMode mode = CreateMode.valueOf(op[3]);
        if (op[5].isEmpty()) {
            return builder.withMode(mode).forPath(path, data(op[2]));
        }
        List<ACL> acl = new ArrayList<>();
        for (String entry : op[5].split("\\+")) {
            String[] words = entry.split("/", -1);
            acl.add(new ACL(Integer.parseInt(words[0]),
                    new Id(URLDecoder.decode(words[1], "UTF-8"), URLDecoder.decode(words[2], "UTF-8"))));
        }
        return builder.withMode(mode).withACL(acl).forPath(path, data(op[2]));
    }

    private static byte[] data(String text) {
        return Base64.getDecoder().decode(text);
    }
}
