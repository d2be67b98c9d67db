"""A plugin of pytest that gives kazoo's own tests one server of ours in place of the cluster that they start.

CURATOR_SERVER is its address, and CURATOR_CONTROL the address of a web server that stops it and starts it.
"""

import os
import urllib.request

import kazoo.testing.harness


class Server:
    """What kazoo's tests use of a server that they have started."""

    def __init__(self, address, control):
        self.address = address
        self.host, port = address.split(":")
        self.client_port = int(port)
        self.running = True
        self._control = control

    def _ask(self, what):
        with urllib.request.urlopen("http://%s/%s" % (self._control, what), data=b""):
            pass

    def run(self):
        if not self.running:
            self._ask("start")
            self.running = True

    def stop(self):
        if self.running:
            self._ask("stop")
            self.running = False


class Cluster(list):
    """A cluster of one server, which goes on when a class of tests is done with it."""

    def start(self):
        for server in self:
            server.run()

    def stop(self):
        for server in self:
            server.stop()

    def terminate(self):
        pass

    def reset(self):
        pass

    def get_logs(self):
        return []


CLUSTER = Cluster([Server(os.environ["CURATOR_SERVER"], os.environ["CURATOR_CONTROL"])])

kazoo.testing.harness.get_global_cluster = lambda: CLUSTER
