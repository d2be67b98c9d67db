package org.apache.curator.test;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.BindException;
import java.net.InetAddress;
import java.net.Socket;
import org.apache.curator.test.compatibility.Timing2;

/**
 * TestingServer stands before the class of this name of curator-test in the class path: its servers are the
 * embedded ones of Curator for Go. They run in the process that has started this one. It is asked on
 * the port of the property "curator.servers", with a line for each request; the line of the answer is "ok" and a
 * number, or "error" and a text.
 */
public class TestingServer implements Closeable {
    private enum State { NEW, RUNS, STOPPED, CLOSED }

    private static final int SERVERS = Integer.getInteger("curator.servers");
    /** This is ZooKeeper's own property for a server, which tests set, and its default. */
    private static final String REAPING = "znode.container.checkIntervalMs";
    private static final long REAPING_DEFAULT = 60_000;

    private final File directory;
    private final int tick;
    private int port;
    private State state = State.NEW;

    public TestingServer() throws Exception {
        this(0, null, true);
    }

    public TestingServer(boolean start) throws Exception {
        this(0, null, start);
    }

    public TestingServer(int port) throws Exception {
        this(port, null, true);
    }

    public TestingServer(int port, boolean start) throws Exception {
        this(port, null, start);
    }

    public TestingServer(int port, File directory) throws Exception {
        this(port, directory, true);
    }

    public TestingServer(int port, File directory, boolean start) throws Exception {
        this(Math.max(port, 0), directory == null ? DirectoryUtils.createTempDirectory() : directory, new Timing2().tickTime(), start);
    }

    public TestingServer(InstanceSpec spec, boolean start) throws Exception {
        this(spec.getPort(), spec.getDataDirectory(), spec.getTickTime() > 0 ? spec.getTickTime() : new Timing2().tickTime(), start);
    }

    private TestingServer(int port, File directory, int tick, boolean start) throws Exception {
        this.port = port;
        this.directory = directory;
        this.tick = tick;
        if (start) {
            start();
        }
    }

    public synchronized int getPort() {
        if (port == 0) {
            throw new IllegalStateException("not started");
        }
        return port;
    }

    public File getTempDirectory() {
        return directory;
    }

    public String getConnectString() {
        return "127.0.0.1:" + getPort();
    }

    /** Starts a new server; one that was stopped needs a restart. */
    public synchronized void start() throws Exception {
        if (state == State.NEW) {
            run();
        }
    }

    public synchronized void stop() throws IOException {
        if (state == State.RUNS) {
            ask("stop " + port);
            state = State.STOPPED;
        }
    }

    public synchronized void restart() throws Exception {
        if (state == State.CLOSED) {
            throw new IllegalStateException("closed");
        }
        stop();
        run();
    }

    @Override
    public synchronized void close() throws IOException {
        stop();
        if (state == State.STOPPED) {
            ask("close " + port + " " + directory);
            state = State.CLOSED;
            DirectoryUtils.deleteRecursively(directory);
        }
    }

    /** The server has the data of the one that had the directory and the port before. */
    private void run() throws IOException {
        port = ask("run " + port + " " + directory + " " + tick + " " + Long.getLong(REAPING, REAPING_DEFAULT));
        state = State.RUNS;
    }

    private static int ask(String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), SERVERS)) {
            socket.getOutputStream().write((request + "\n").getBytes(UTF_8));
            String answer = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8)).readLine();
            if (answer == null || !answer.startsWith("ok ")) {
                throw new BindException(request + ": " + answer);
            }
            return Integer.parseInt(answer.substring(3));
        }
    }
}
