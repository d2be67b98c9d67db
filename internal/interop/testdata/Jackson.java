import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * Jackson reads and writes models as JacksonModelSerializer does.
 *
 * <p>A line of the input is a model in JSON, in base 64. The line of the output is what Jackson
 * writes after it has read that, in base 64.
 */
public final class Jackson {
    private Jackson() {}

    /** Model has what models have. */
    public static class Model {
        public String item;
        public int count;
        public double price;
        public boolean open;
        public Long limit;
        public List<String> tags;
        public Map<String, Integer> stock;
    }

    public static void main(String[] args) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Model model = mapper.readerFor(Model.class).readValue(Base64.getDecoder().decode(line));
            System.out.println(Base64.getEncoder().encodeToString(mapper.writerFor(Model.class).writeValueAsBytes(model)));
        }
    }
}
