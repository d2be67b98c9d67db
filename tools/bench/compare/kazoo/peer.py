"""The benchmark's peer for kazoo, the ZooKeeper client for Python.

It runs the workloads of the protocol in tools/bench/internal/protocol on the ZooKeeper
servers that its argument names. All its clients are threads of one process, as in a program
in Python, where one thread runs at a time. It has no mix of readers and writers: in kazoo
2.8 they wait for each other for ever (python-zk/kazoo#649).
"""

import concurrent.futures
import json
import logging
import sys
import time

from kazoo.client import KazooClient

SESSION_TIMEOUT = 30
QUEUE_PAUSE = 0.01
MAX_LATENCIES = 100_000


class Peer:
    """Peer has the clients, which stay connected."""

    def __init__(self, hosts):
        self.hosts = hosts
        self.clients = []
        self.holders = []  # each holds a lock until the end
        self.workloads = {
            "solo": self.contend,
            "contend": self.contend,
            "spread": self.spread,
            "semaphore": self.semaphore,
            "readers": self.readers,
            "try-free": self.try_free,
            "try-busy": self.try_busy,
            "floor": self.floor,
            "drain": self.drain,
            "hold": self.hold,
            "queued": self.queued,
            "wait": self.wait,
        }

    def take(self, n):
        """Returns n clients, and connects those that are missing."""
        while len(self.clients) < n:
            self.clients.append(self.connect(SESSION_TIMEOUT))
        return self.clients[:n]

    def connect(self, session_timeout):
        client = KazooClient(hosts=self.hosts, timeout=session_timeout)
        client.start(timeout=SESSION_TIMEOUT)
        return client

    def close(self):
        for client in self.clients + self.holders:
            client.stop()
            client.close()

    def answer(self, line):
        try:
            request = json.loads(line)
            workload = self.workloads.get(request["workload"])
            if workload is None:
                return {"error": "unsupported workload"}
            return workload(request)
        except Exception as error:  # the answer tells, and the next request may work
            return {"error": repr(error)}

    def contend(self, request):
        return self.repeat(request, lambda client, _: operation(client.Lock(request["path"])))

    def spread(self, request):
        return self.repeat(request, lambda client, i: operation(client.Lock("%s/%d" % (request["path"], i))))

    def semaphore(self, request):
        leases = request["leases"]
        return self.repeat(
            request, lambda client, _: operation(client.Semaphore(request["path"], max_leases=leases)))

    def readers(self, request):
        return self.repeat(request, lambda client, _: operation(client.ReadLock(request["path"])))

    def try_free(self, request):
        return self.repeat({**request, "clients": 1}, lambda client, _: tried(client.Lock(request["path"]), True))

    def try_busy(self, request):
        with self.take(2)[1].Lock(request["path"]):
            return self.repeat({**request, "clients": 1}, lambda client, _: tried(client.Lock(request["path"]), False))

    def floor(self, request):
        prefix = request["path"] + "/n-"
        self.take(1)[0].ensure_path(request["path"])

        def make(client, _):
            return lambda: client.delete(client.create(prefix, ephemeral=True, sequence=True))
        return self.repeat(request, make)

    def repeat(self, request, make):
        """Has each client repeat its operation on a thread, and counts after the warm-up."""
        n = 1 if request["workload"] == "solo" else max(1, request.get("clients", 1))
        operations = [make(client, i) for i, client in enumerate(self.take(n))]
        duration = request.get("duration_ms", 0) * 1_000_000
        begin = time.monotonic_ns() + request.get("warmup_ms", 0) * 1_000_000
        end = begin + duration

        def run(one):
            latencies = []
            started = time.monotonic_ns()
            while started < end:
                one()
                now = time.monotonic_ns()
                if begin <= now < end:
                    latencies.append(now - started)
                started = now
            return latencies

        with concurrent.futures.ThreadPoolExecutor(n) as threads:
            every = [latency for one in threads.map(run, operations) for latency in one]
        return result(len(every), duration, every)

    def drain(self, request):
        """Lets waiters in, one after the other, that have queued behind a gate."""
        if request.get("warmup_ms", 0) > 0:
            self.contend({**request, "path": request["path"] + "-warmup", "duration_ms": 0})
        clients = self.take(max(1, request.get("clients", 1)))
        path, waiters = request["path"], request["waiters"]
        gate = clients[0].Lock(path)
        gate.acquire()

        def wait(i):
            lock = clients[i % len(clients)].Lock(path)
            lock.acquire()
            granted = time.monotonic_ns()
            lock.release()
            return granted, time.monotonic_ns()

        with concurrent.futures.ThreadPoolExecutor(max(1, waiters)) as threads:
            futures = [threads.submit(wait, i) for i in range(waiters)]
            self.await_queued(path, waiters + 1, futures)
            opened = time.monotonic_ns()
            gate.release()
            times = [future.result() for future in futures]
        grants = [opened] + sorted(granted for granted, _ in times)
        last = max((released for _, released in times), default=opened)
        return result(waiters, last - opened, [b - a for a, b in zip(grants, grants[1:])])

    def await_queued(self, path, n, futures=()):
        """Waits until n hold a lock or wait for it. A waiter that has ended before has failed."""
        client = self.take(1)[0]
        while (client.exists(path).children_count != n
               and not any(future.done() for future in futures)):
            time.sleep(QUEUE_PAUSE)

    def hold(self, request):
        """Holds a lock, with a session of its own, until this process ends."""
        client = self.connect(request["timeout_ms"] / 1000)
        self.holders.append(client)
        client.Lock(request["path"]).acquire()
        return result(1, 0, [])

    def queued(self, request):
        self.await_queued(request["path"], 2)
        return result(0, 0, [])

    def wait(self, request):
        """Waits for a lock, and tells how long ago it was granted."""
        lock = self.take(1)[0].Lock(request["path"])
        lock.acquire()
        granted = time.monotonic_ns()
        lock.release()
        return result(1, time.monotonic_ns() - granted, [])


def operation(lock):
    """Makes the operation that acquires and releases."""
    def run():
        lock.acquire()
        lock.release()
    return run


def tried(lock, free):
    """Makes the operation that asks for a lock without waiting, and releases what it got."""
    def run():
        if lock.acquire(blocking=False) != free:
            raise RuntimeError("the lock is not as free as it should be")
        if free:
            lock.release()
    return run


def result(operations, elapsed, latencies):
    n = min(len(latencies), MAX_LATENCIES)
    return {
        "operations": operations,
        "elapsed_ns": elapsed,
        "latencies_ns": [latencies[i * len(latencies) // n] for i in range(n)],
        "error": "",
    }


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: peer.py HOSTS")
    logging.basicConfig(level=logging.ERROR)
    peer = Peer(sys.argv[1])
    try:
        peer.take(1)
        print("ready", flush=True)
        for line in sys.stdin:
            print(json.dumps(peer.answer(line)), flush=True)
    finally:
        peer.close()


if __name__ == "__main__":
    main()
