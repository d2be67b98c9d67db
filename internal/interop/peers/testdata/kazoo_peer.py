"""Has kazoo do what a test asks for.

The arguments are the connect string and the session timeout in milliseconds. A line of the input is a request: its number, a
command and its arguments. A line of the output is its answer: the number, "ok" or "error", and a text. Requests are
answered in any order. The process ends with its input.

The programs for other clients have the same commands:

session                 the id of the session, in hexadecimal digits
create PATH DATA MODE   creates a node, MODE is persistent, ephemeral, sequential or both; its path
get PATH                the version and the data
set PATH DATA VERSION   the new version
delete PATH VERSION
children PATH           their names, sorted
owner PATH              the session of an ephemeral node, 0 for another node, "none" if there is no node
watch PATH              sets a watch on the node's data
fired PATH              waits until that watch has fired
lock PATH MARK DATA     waits for the lock, whose nodes have "lock-" or "latch-" and a number at their ends; its node
unlock PATH MARK
add PATH N              adds 1 to the number of 8 bytes in a node, N times, by versions; the last number
round PATH COUNTER N    N times, under the lock: adds 1 to a text in a node, in two steps
offer PATH DATA         puts an item into a queue
take PATH               takes the first item of a queue; "none" if there is none
"""

import struct
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NoNodeError
from kazoo.recipe.lock import Lock

PATIENCE = 60  # seconds

client = KazooClient(hosts=sys.argv[1], timeout=int(sys.argv[2]) / 1000)
client.start(timeout=PATIENCE)
locks = {}
watches = {}
output = threading.Lock()


class CuratorLock(Lock):
    """A lock of kazoo whose nodes have names that Curator understands, and that knows no other ones."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = [_NODE_NAME]


class CuratorLatch(Lock):
    _NODE_NAME = "-latch-"
    _EXCLUDE_NAMES = [_NODE_NAME]


class SharedLock(Lock):
    """A lock of kazoo that also looks at Curator's nodes."""

    def __init__(self, client, path, data):
        super().__init__(client, path, data, extra_lock_patterns=("-lock-",))


KINDS = {"lock-": CuratorLock, "latch-": CuratorLatch, "__lock__": SharedLock}


def create(path, data, mode):
    return client.create(path, data.encode(), ephemeral=mode in ("ephemeral", "both"),
                         sequence=mode in ("sequential", "both"), makepath=True)


def get(path):
    data, stat = client.get(path)
    return f"{stat.version} {data.decode()}"


def owner(path):
    stat = client.exists(path)
    return "none" if stat is None else f"{stat.ephemeralOwner & (1 << 64) - 1:x}"


def watch(path):
    watches[path] = threading.Event()
    client.get(path, watch=lambda event: watches[path].set())


def fired(path):
    if not watches[path].wait(PATIENCE):
        raise TimeoutError(path)


def lock(path, mark, data):
    kind = KINDS[mark](client, path, data)
    kind.acquire(timeout=PATIENCE)
    locks[path + mark] = kind
    return f"{path}/{kind.node}"


def unlock(path, mark):
    locks.pop(path + mark).release()


def add(path, times):
    for _ in range(int(times)):
        while True:
            try:
                data, stat = client.get(path)
                number = struct.unpack(">q", data)[0] + 1
                client.set(path, struct.pack(">q", number), version=stat.version)
                break
            except BadVersionError:
                pass
    return number


def round_(path, counter, times):
    own = CuratorLock(client, path, "round")
    for _ in range(int(times)):
        own.acquire(timeout=PATIENCE)
        client.set(counter, str(int(client.get(counter)[0]) + 1).encode())
        own.release()


def take(path):
    for name in sorted(client.get_children(path)):
        try:
            data = client.get(f"{path}/{name}")[0]
            client.delete(f"{path}/{name}")
            return data.decode()
        except NoNodeError:
            pass
    return "none"


COMMANDS = {
    "session": lambda: f"{client.client_id[0] & (1 << 64) - 1:x}",
    "create": create,
    "get": get,
    "set": lambda path, data, version: client.set(path, data.encode(), version=int(version)).version,
    "delete": lambda path, version: client.delete(path, version=int(version)),
    "children": lambda path: " ".join(sorted(client.get_children(path))),
    "owner": owner,
    "watch": watch,
    "fired": fired,
    "lock": lock,
    "unlock": unlock,
    "add": add,
    "round": round_,
    "offer": lambda path, data: client.create(path + "/qn-", data.encode(), sequence=True, makepath=True),
    "take": take,
}


def answer(number, command, *arguments):
    try:
        result = COMMANDS[command](*arguments)
        text = "ok " + ("" if result is None else str(result))
    except Exception as e:
        text = f"error {e!r}".replace("\n", " ")
    with output:
        print(number, text, flush=True)


for line in sys.stdin:
    threading.Thread(target=answer, args=line.split(), daemon=True).start()
