"""A Redis Cluster: real servers on free ports, joined by commands rather than by redis-cli."""

from .redis import Redis, RedisError
from .services import free_port
from .waiting import eventually

SLOTS = 16384
NODE_TIMEOUT_MS = 1000


def crc16(data):
    """CRC-16/XMODEM, bit by bit."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def slot_of(key):
    begin = key.find(b"{")
    end = key.find(b"}", begin + 1)
    return crc16(key[begin + 1:end] if begin >= 0 and end > begin + 1 else key) % SLOTS


class Cluster:
    """`masters` servers with all slots, and `replicas` of each."""

    def __init__(self, case, masters=3, replicas=0, password=None, options=()):
        self.case, self.password, self.options = case, password, list(options)
        self.nodes = [self._node() for _ in range(masters * (1 + replicas))]
        for i in range(masters):
            self.nodes[i]("CLUSTER", "ADDSLOTSRANGE", SLOTS * i // masters, SLOTS * (i + 1) // masters - 1)
        for node in self.nodes[1:]:
            self.meet(node)
        eventually(lambda: all(self._knows_all(node) for node in self.nodes), "every node knows the others")
        for i, node in enumerate(self.nodes[masters:]):
            node("CLUSTER", "REPLICATE", self.id_of(self.nodes[i % masters]))
        self.await_whole()

    def _node(self):
        auth = ["--requirepass", self.password, "--masterauth", self.password] if self.password else []
        node = self.case.redis("--cluster-enabled", "yes", "--cluster-node-timeout", NODE_TIMEOUT_MS,
                               "--cluster-port", free_port(), *auth, *self.options, start=False)
        node.options = [str(option) for option in node.options]
        node.password = self.password
        return node.start()

    def meet(self, node):
        bus = node("CONFIG", "GET", "cluster-port")[1]
        self.nodes[0]("CLUSTER", "MEET", "127.0.0.1", node.port, int(bus))

    def add(self):
        """A master without slots."""
        node = self._node()
        self.nodes.append(node)
        self.meet(node)
        eventually(lambda: all(self._knows_all(other) for other in self.running()), "the new node is known")
        eventually(lambda: self.state(node), "the new node has joined")
        return node

    def running(self):
        return [node for node in self.nodes if node.is_running]

    def id_of(self, node):
        return node("CLUSTER", "MYID").decode()

    def _knows_all(self, node):
        lines = node("CLUSTER", "NODES").decode().splitlines()
        return len(lines) >= len(self.nodes) and not any("handshake" in line or "noaddr" in line for line in lines)

    def state(self, node):
        return b"cluster_state:ok" in node("CLUSTER", "INFO")

    def await_whole(self):
        """Every running node sees all slots served, and by the same masters."""
        def agreed():
            try:
                nodes = self.running()
                views = {repr(sorted(range_[:2] + [range_[2][1]] for range_ in node("CLUSTER", "SLOTS")))
                         for node in nodes}
                replicas_ready = all(b"role:master" in info or b"master_link_status:up" in info
                                     for info in (node("INFO", "replication") for node in nodes))
                return all(self.state(node) for node in nodes) and len(views) == 1 and replicas_ready
            except (OSError, RedisError):
                return False
        eventually(agreed, "the cluster is whole")

    def master_of(self, slot):
        """The node that serves a slot, by what a node that runs reports."""
        for first, last, master, *_ in self.running()[0]("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return next(node for node in self.nodes if node.port == master[1])
        raise AssertionError(f"nobody serves slot {slot}")

    def begin_move(self, slot, target):
        source = self.master_of(slot)
        target("CLUSTER", "SETSLOT", slot, "IMPORTING", self.id_of(source))
        source("CLUSTER", "SETSLOT", slot, "MIGRATING", self.id_of(target))
        return source

    def move_keys(self, slot, source, target):
        auth = ["AUTH", self.password] if self.password else []
        while keys := source("CLUSTER", "GETKEYSINSLOT", slot, 100):
            source("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, *auth, "KEYS", *keys)

    def end_move(self, slot, source, target):
        for node in (target, source, *self.running()):
            try:
                node("CLUSTER", "SETSLOT", slot, "NODE", self.id_of(target))
            except RedisError:
                pass  # a replica

    def move(self, slot, target):
        """As redis-cli --cluster reshard does it."""
        if self.master_of(slot) is target:
            return
        source = self.begin_move(slot, target)
        self.move_keys(slot, source, target)
        self.end_move(slot, source, target)

    def keys(self):
        """The keys of all masters that run."""
        found = []
        for node in self.running():
            if b"role:master" in node("INFO", "replication"):
                found += node("KEYS", "*")
        return found

    @property
    def store(self):
        """The settings of store.redis."""
        return {"topology": "cluster", "servers": [f"127.0.0.1:{node.port}" for node in self.nodes]}
