import com.sun.tools.attach.VirtualMachine;
import com.sun.tools.attach.VirtualMachineDescriptor;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** Ends all connections of a ZooKeeper server's clients, as an operator does with a JMX console. */
public class EndConnections {
    /** Loads itself, a jar, into the server with a configuration file. */
    public static void main(String[] args) throws Exception {
        for (VirtualMachineDescriptor each : VirtualMachine.list()) {
            if (each.displayName().equals("org.apache.zookeeper.server.quorum.QuorumPeerMain " + args[0])) {
                VirtualMachine server = VirtualMachine.attach(each);
                server.loadAgent(args[1]);
                server.detach();
                return;
            }
        }
        throw new IllegalStateException("no server has the configuration " + args[0]);
    }

    /** Runs in the server. */
    public static void agentmain(String none) throws Exception {
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        for (ObjectName name : beans.queryNames(new ObjectName("org.apache.ZooKeeperService:*"), null)) {
            boolean isConnection = Arrays.stream(beans.getMBeanInfo(name).getOperations())
                .anyMatch(operation -> operation.getName().equals("terminateConnection"));
            if (isConnection) {
                beans.invoke(name, "terminateConnection", new Object[0], new String[0]);
            }
        }
    }
}
