"""A worker with kazoo beside those in Go, on a lock that takes both clients' nodes in.

It believes in the lock from the return of acquire until the connection is suspended or lost. The
arguments are its name, the connect string, the root, the session timeout in milliseconds, a seed,
and the mean pause in milliseconds. It ends with its input.
"""

import json
import logging
import random
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.protocol.states import KazooState

NAME, HOSTS, ROOT, SESSION, SEED, PAUSE = sys.argv[1:7]
WORKLOAD = "kazoo-mutex"
ending = threading.Event()
printing = threading.Lock()


def note(kind, at=None, **fields):
    event = {"t": time.monotonic_ns() if at is None else at, "p": NAME, "e": kind, "w": WORKLOAD, **fields}
    with printing:
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()


class Worker:
    def __init__(self):
        self.breaks = 0
        self.random = random.Random(int(SEED))
        self.client = KazooClient(hosts=HOSTS, timeout=int(SESSION) / 1000)
        self.client.add_listener(self.listen)
        self.client.start_async()

    def listen(self, state):
        if state != KazooState.CONNECTED:
            self.breaks += 1

    def run(self):
        op = 0
        while not ending.wait(self.random.random() * 2 * int(PAUSE) / 1000):
            op += 1
            try:
                self.once(op)
            except Exception as error:  # the next one may work
                note("refused", op=op, text=repr(error))

    def once(self, op):
        path = ROOT + "/" + WORKLOAD
        lock = self.client.Lock(path, extra_lock_patterns=("-lock-",))
        note("begin", op=op, lock=path)
        if not lock.acquire(timeout=5):
            note("refused", op=op)
            return
        try:
            self.hold(op, path, lock)
        finally:
            note("release", op=op)
            lock.release()

    def hold(self, op, path, lock):
        before = self.breaks
        at = time.monotonic_ns()
        if self.breaks == before and self.client.connected:
            session = self.client.client_id[0]
            note("grant", at=at, op=op, lock=path, mode="x", node=path + "/" + lock.node, session=session)
        end = time.monotonic() + self.random.random() * (1.0 if self.random.randrange(20) == 0 else 0.04)
        while True:
            at = time.monotonic_ns()
            if self.breaks != before:
                note("lost", op=op)
                return
            note("held", at=at, op=op)
            if time.monotonic() >= end:
                return
            time.sleep(0.015)


def main():
    logging.basicConfig(level=logging.WARNING)
    worker = Worker()
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    sys.stdin.read()
    ending.set()
    thread.join(15)
    worker.client.stop()
    worker.client.close()


main()
