"""Has kazoo use a server, and fails at the first thing that is not as it must be.

The arguments are the connect string and a path for the checks. It prints a line for each
check that has passed, and "done" at the end. In between it asks for outages of the
network: see outage.
"""

import logging
import queue
import sys
import threading

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import (
    BadVersionError, NoAuthError, NodeExistsError, NoNodeError, NotEmptyError,
    RolledBackError, RuntimeInconsistency,
)
from kazoo.recipe.watchers import ChildrenWatch, DataWatch
from kazoo.security import make_digest_acl

PATIENCE = 20  # seconds

address, root = sys.argv[1:]


def connect(**options):
    """Returns a client with a session."""
    client = KazooClient(hosts=address, timeout=30, **options)
    client.start(timeout=PATIENCE)
    return client


def same(what, want, got):
    if want != got:
        raise AssertionError(f"{what}: {got!r}, want {want!r}")


def refused(error, request, *args, **options):
    try:
        request(*args, **options)
    except error:
        return
    raise AssertionError(f"not refused: {request.__name__} {args}")


def await_value(events, want):
    """Waits until this is among what comes."""
    while True:
        got = events.get(timeout=PATIENCE)
        if got == want:
            return


def outage(*changes):
    """Cuts all connections; until that is over, somebody does this: "create", a path, ..."""
    print("outage", *changes, flush=True)
    sys.stdin.readline()


def check_nodes(client):
    nodes = root + "/nodes"
    path, stat = client.create(nodes, b"data", include_data=True)
    same("path", nodes, path)
    same("owner", 0, stat.ephemeralOwner)
    same("sequential", nodes + "/s-0000000000", client.create(nodes + "/s-", sequence=True))
    same("ephemeral", nodes + "/e-0000000001", client.create(nodes + "/e-", ephemeral=True, sequence=True))
    client.ensure_path(nodes + "/a/b/c")
    same("owner", client.client_id[0], client.exists(nodes + "/e-0000000001").ephemeralOwner)
    children, stat = client.get_children(nodes, include_data=True)
    same("children", ["a", "e-0000000001", "s-0000000000"], sorted(children))
    same("number of children", 3, stat.numChildren)
    same("data", b"data", client.get(nodes)[0])
    same("version", 1, client.set(nodes, b"new", version=0).version)
    refused(NodeExistsError, client.create, nodes)
    refused(NoNodeError, client.create, root + "/none/x")
    refused(BadVersionError, client.set, nodes, b"", version=7)
    refused(NotEmptyError, client.delete, nodes + "/a")
    refused(NoNodeError, client.get, nodes + "/none")
    same("nothing there", None, client.exists(nodes + "/none"))
    same("sync", nodes, client.sync(nodes))
    client.delete(nodes, recursive=True)


def check_version(client):
    version = client.server_version()
    same("major version", 3, version[0])
    lines = client.command(b"srvr").splitlines()
    same("srvr", "Zookeeper version: " + ".".join(map(str, version)) + "-", lines[0].split("-")[0] + "-")
    same("mode", True, "Mode: standalone" in lines)


def check_transaction(client):
    node = root + "/transaction"
    transaction = client.transaction()
    transaction.create(node, b"1")
    transaction.create(node + "/s-", sequence=True)
    transaction.check(node, version=0)
    transaction.set_data(node, b"2")
    transaction.delete(node + "/s-0000000000")
    results = transaction.commit()
    same("results", [node, node + "/s-0000000000", True, 1, True],
         [r.version if hasattr(r, "version") else r for r in results])
    transaction = client.transaction()
    transaction.set_data(node, b"3")
    transaction.check(node, version=0)
    transaction.delete(node)
    same("errors", [RolledBackError, BadVersionError, RuntimeInconsistency],
         [type(r) for r in transaction.commit()])
    same("undone", b"2", client.get(node)[0])


def check_acl(client):
    node = root + "/acl"
    owner = connect(auth_data=[("digest", "me:secret")])
    acl = make_digest_acl("me", "secret", all=True)
    owner.create(node, b"data", acl=[acl])
    same("ACL", [acl], owner.get_acls(node)[0])
    refused(NoAuthError, client.get, node)
    refused(NoAuthError, client.set_acls, node, [acl])
    client.add_auth("digest", "me:secret")
    same("data", b"data", client.get(node)[0])
    same("version", 1, client.set_acls(node, [acl, make_digest_acl("you", "secret", read=True)]).aversion)
    owner.stop()


def check_lock(client):
    """A read and a write under the lock are one step."""
    node = root + "/lock-counter"
    client.create(node, b"0")

    def contend():
        own = connect()
        for _ in range(10):
            with own.Lock(root + "/lock", "contender"):
                own.set(node, str(int(own.get(node)[0]) + 1).encode())
        own.stop()

    run_all(contend, contend, contend)
    same("rounds", b"30", client.get(node)[0])
    lock = client.Lock(root + "/lock", "me")
    lock.acquire(timeout=PATIENCE)
    same("contenders", ["me"], lock.contenders())
    other = connect()
    same("taken while held", False, other.Lock(root + "/lock").acquire(blocking=False))
    lock.release()
    other.stop()
    same("left behind", [], client.get_children(root + "/lock"))


def check_election(client):
    led = queue.Queue()

    def contend(name):
        own = connect()
        own.Election(root + "/election", name).run(led.put, name)
        own.stop()

    run_all(lambda: contend("a"), lambda: contend("b"))
    same("leaders", ["a", "b"], sorted([led.get(timeout=PATIENCE), led.get(timeout=PATIENCE)]))
    same("contenders", [], client.Election(root + "/election").contenders())


def check_semaphore(client):
    other = connect()
    leases = [c.Semaphore(root + "/semaphore", "me", max_leases=2) for c in (client, other, client)]
    same("first", True, leases[0].acquire(timeout=PATIENCE))
    same("second", True, leases[1].acquire(timeout=PATIENCE))
    same("third", False, leases[2].acquire(blocking=False))
    same("holders", ["me", "me"], leases[0].lease_holders())
    leases[1].release()
    same("third, later", True, leases[2].acquire(timeout=PATIENCE))
    leases[0].release()
    leases[2].release()
    other.stop()


def check_watches(client):
    """Watches follow a node and its children, over an outage too."""
    node = root + "/watched"
    data, children, states = queue.Queue(), queue.Queue(), queue.Queue()
    client.create(node, b"1")
    session = client.client_id[0]
    DataWatch(client, node, lambda value, stat: data.put(value))
    ChildrenWatch(client, node, lambda names: children.put(sorted(names)))
    await_value(data, b"1")
    await_value(children, [])
    client.set(node, b"2")
    await_value(data, b"2")
    client.create(node + "/a", ephemeral=True)
    await_value(children, ["a"])
    client.add_listener(states.put)
    outage("set", node, "create", node + "/b")
    await_value(states, KazooState.SUSPENDED)
    await_value(states, KazooState.CONNECTED)
    await_value(data, b"changed")
    await_value(children, ["a", "b"])
    same("session", session, client.client_id[0])
    client.set(node, b"3")
    await_value(data, b"3")
    client.delete(node + "/b")
    await_value(children, ["a"])


def run_all(*functions):
    """Runs functions at the same time, and fails if one of them does."""
    failures = queue.Queue()

    def run(function):
        try:
            function()
        except BaseException as failure:
            failures.put(failure)

    threads = [threading.Thread(target=run, args=(f,), daemon=True) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
        same("still at work", False, thread.is_alive())
    if not failures.empty():
        raise failures.get()


def main():
    logging.basicConfig(level=logging.WARNING)
    client = connect()
    client.create(root)
    for check in (check_nodes, check_version, check_transaction, check_acl, check_lock, check_election,
                  check_semaphore, check_watches):
        check(client)
        print(check.__name__, flush=True)
    client.stop()
    client.close()
    print("done", flush=True)


main()
