"""The benchmark's peer for kazoo, the ZooKeeper client for Python.

It runs the workloads of the protocol in tools/bench/internal/protocol on the ZooKeeper
servers that its argument names. All its clients are threads of one process, as in a program
in Python, where one thread runs at a time.
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
        self.workloads = {
            "solo": self.contend,
            "contend": self.contend,
            "spread": self.spread,
            "semaphore": self.semaphore,
            "readers": self.readers,
            "floor": self.floor,
            "drain": self.drain,
        }

    def take(self, n):
        """Returns n clients, and connects those that are missing."""
        while len(self.clients) < n:
            client = KazooClient(hosts=self.hosts, timeout=SESSION_TIMEOUT)
            self.clients.append(client)
            client.start(timeout=SESSION_TIMEOUT)
        return self.clients[:n]

    def close(self):
        for client in self.clients:
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
            # One that has ended while the gate is closed has failed.
            while (clients[0].exists(path).children_count != waiters + 1
                   and not any(future.done() for future in futures)):
                time.sleep(QUEUE_PAUSE)
            opened = time.monotonic_ns()
            gate.release()
            times = [future.result() for future in futures]
        grants = [opened] + sorted(granted for granted, _ in times)
        last = max((released for _, released in times), default=opened)
        return result(waiters, last - opened, [b - a for a, b in zip(grants, grants[1:])])


def operation(lock):
    """Makes the operation that acquires and releases."""
    def run():
        lock.acquire()
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
