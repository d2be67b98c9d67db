import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Base64;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;

/**
 * Digests makes the ids of the scheme digest as ZooKeeper does.
 *
 * <p>A line of the input is "user:password" in base 64, a line of the output the id in base 64.
 */
public final class Digests {
    private Digests() {}

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String credentials = new String(Base64.getDecoder().decode(line), UTF_8);
            String id = DigestAuthenticationProvider.generateDigest(credentials);
            System.out.println(Base64.getEncoder().encodeToString(id.getBytes(UTF_8)));
        }
    }
}
