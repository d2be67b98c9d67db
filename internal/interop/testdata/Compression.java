import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Base64;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.apache.curator.framework.api.CompressionProvider;
import org.apache.curator.framework.imps.GzipCompressionProvider;

/**
 * Compression compresses and decompresses as Curator or the JDK does.
 *
 * <p>A line of the input is "curator" or "jdk", "compress" or "decompress", and the data in
 * base 64. A line of the output is "=" and the result in base 64, or "refused".
 */
public final class Compression {
    private static final CompressionProvider CURATOR = new GzipCompressionProvider();

    private Compression() {}

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] request = line.split(" ", 3);
            byte[] data = Base64.getDecoder().decode(request[2]);
            try {
                System.out.println("=" + Base64.getEncoder().encodeToString(answer(request[0], request[1], data)));
            } catch (IOException e) {
                System.out.println("refused");
            }
        }
    }

    private static byte[] answer(String who, String what, byte[] data) throws Exception {
        boolean compress = what.equals("compress");
        if (who.equals("curator")) {
            return compress ? CURATOR.compress("/a", data) : CURATOR.decompress("/a", data);
        }
        if (!compress) {
            return new GZIPInputStream(new ByteArrayInputStream(data)).readAllBytes();
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(data);
        }
        return out.toByteArray();
    }
}
