"""The topologies under test: their servers, three instances of Weir, and the faults that each topology has.

A fault is begun, and the function that it returns ends it. The other fields are its cost: see history.Allowance.
"""

import os
import signal
from dataclasses import dataclass
from typing import Callable

from harness.clusters import Cluster, slot_of
from harness.redis import RedisError, skewed
from harness.redis_case import answering, sharing
from harness.relay import Relay
from harness.sentinels import MASTER, Watched
from harness.waiting import eventually

INSTANCES = 3
# A quota of each policy recovers by one unit in two hours or later, or not at all, while a round lasts.
QUOTAS = {"strict": 90, "shared": 90, "leased": 300}
POLICIES = {"strict": {"on_failure": "deny", "lease": False},
            "shared": {"algorithm": "sliding_log", "on_failure": "local", "lease": False},
            "leased": {"algorithm": "gcra", "on_failure": "deny", "lease": True}}
LEASES = {"share": 20, "duration": "200ms"}
# What one instance may hold of a quota of `leased`.
HELD = QUOTAS["leased"] * LEASES["share"] // 100
# The clocks of the instances are an hour apart, and the clock of Redis is stepped, where this library is built.
HAS_SKEW = bool(os.environ.get("WEIR_SKEWED_CLOCK"))


@dataclass(frozen=True)
class Fault:
    name: str
    begin: Callable
    quotas: float = 0
    slack: int = 0
    is_damaged: bool = False
    # The masters that are replaced by it.
    replaced: int = 0
    # An instance, which forgets what it has admitted alone.
    kills_instance: bool = False


def nothing():
    pass


class World:
    """Servers, and the settings of store.redis that lead to them."""
    algorithm = None  # of the policy `strict`

    def __init__(self, case, random):
        self.case, self.random = case, random
        self.weirs = []

    def start_instances(self):
        self.weirs = [self.start_instance(i) for i in range(INSTANCES)]

    def start_instance(self, index):
        policies = {name: {"algorithm": self.algorithm, "rate": f"{QUOTAS[name]}/26d", **policy}
                    for name, policy in POLICIES.items()}
        config = sharing("redis://unused", policies, identities={"user": {"header": "x-user"}},
                         routes=[answering(f"/{policy}", policy, "user") for policy in POLICIES],
                         admin={"address": "127.0.0.1:0"}, access_log="off", workers=1 + index % 2,
                         redis={"timeout": "100ms", "replicas": INSTANCES, "leases": LEASES, **self.store})
        skew_s = 3600 * (index - 1)
        weir = self.case.start(config, environment=skewed(skew_s) if HAS_SKEW else None)
        self.case.await_redis(weir)
        return weir

    def masters(self):
        raise NotImplementedError

    def ports(self):
        """The masters' ports: they change by a failover, also by one that the load of the machine has caused."""
        return {master.port for master in self.masters()}

    def faults(self):
        return [Fault("Weir: kill -9", self.kill_instance, kills_instance=True),
                Fault("Weir: stopped and continued", self.stop_instance),
                Fault("SCRIPT FLUSH", self.flush_scripts),
                Fault("FLUSHALL", self.flush_all, quotas=1),
                Fault("CLIENT PAUSE", self.pause_clients),
                Fault("a script that does not end", self.busy),
                Fault("out of memory", self.out_of_memory),
                Fault("not enough replicas to write", self.read_only)]

    # ---- faults of every topology; each returns what ends it ----

    def kill_instance(self):
        index = self.random.randrange(INSTANCES)
        self.weirs[index].is_stopped = True
        self.weirs[index].kill()

        def restart():
            self.weirs[index] = self.start_instance(index)
        return restart

    def stop_instance(self):
        weir = self.random.choice(self.weirs)
        weir.signal(signal.SIGSTOP)
        return lambda: weir.signal(signal.SIGCONT)

    def flush_scripts(self):
        for master in self.masters():
            master("SCRIPT", "FLUSH")
        return nothing

    def flush_all(self):
        for master in self.masters():
            master("FLUSHALL")
        return nothing

    def pause_clients(self):
        masters = self.masters()
        for master in masters:
            master("CLIENT", "PAUSE", self.random.randint(300, 2500), self.random.choice(["WRITE", "ALL"]))

        def await_end():
            for master in masters:
                master("EVAL", "return 1", 0)
        return await_end

    def busy(self):
        master = self.random.choice(self.masters())
        master("CONFIG", "SET", "busy-reply-threshold", 50)
        client = master.client()
        client.send("EVAL", "while true do end", 0)

        def kill_script():
            eventually(lambda: self.is_killed(master), "the script is killed")
            client.close()
        return kill_script

    @staticmethod
    def is_killed(master):
        try:
            master("SCRIPT", "KILL")
            return True
        except RedisError as error:
            return "NOTBUSY" in str(error) and master("PING") == b"PONG"

    def set_and_restore(self, setting, value):
        masters = [(master, master("CONFIG", "GET", setting)[1]) for master in self.masters()]
        for master, _ in masters:
            master("CONFIG", "SET", setting, value)

        def restore():
            for master, restored in masters:
                master("CONFIG", "SET", setting, restored)
        return restore

    def out_of_memory(self):
        return self.set_and_restore("maxmemory", 1)

    def read_only(self):
        return self.set_and_restore("min-replicas-to-write", 9)

    def await_whole(self):
        """The servers are as they were; Weir may still be on its way."""


class Standalone(World):
    """A server that loses nothing when it is killed, behind a relay."""
    algorithm = "gcra"

    def __init__(self, case, random):
        super().__init__(case, random)
        self.server = case.redis("--appendonly", "yes", "--appendfsync", "always")
        self.skew_s = 0
        self.relay = Relay(self.server.port)
        case.addCleanup(self.relay.close)
        self.store = {"url": self.relay.url}

    def masters(self):
        return [self.server]

    def faults(self):
        # In an hour a client regains a seventh of a unit.
        steps = [Fault("Redis: clock stepped", self.step_clock, slack=1)] if HAS_SKEW else []
        return [*super().faults(), *steps,
                Fault("Redis: kill -9, nothing lost", self.kill_server),
                Fault("Redis: kill -9, all lost", self.empty_server, quotas=1),
                Fault("Redis: stopped and continued", self.stop_server),
                Fault("Redis: a replica for a while", self.demote),
                Fault("network: delay", lambda: self.impair("delay_s", self.random.uniform(0.01, 0.3))),
                Fault("network: throttled", lambda: self.impair("bytes_per_s", 4_000)),
                Fault("network: drops all packets", lambda: self.impair("is_black_hole", True)),
                Fault("network: connections reset", self.reset),
                Fault("network: bytes corrupted", self.corrupt, quotas=1, is_damaged=True)]

    def kill_server(self):
        self.server.stop()
        return self.server.start

    def step_clock(self):
        self.server.stop()
        self.skew_s = self.random.choice([skew for skew in (-3600, -1, 0, 1, 3600) if skew != self.skew_s])
        self.server.environment = skewed(self.skew_s)
        return self.server.start

    def empty_server(self):
        self.server.stop()
        for file in self.server.directory.glob("appendonlydir/*"):
            file.unlink()
        return self.server.start

    def stop_server(self):
        self.server.pause()
        return self.server.resume

    def demote(self):
        self.server("REPLICAOF", "127.0.0.1", 1)
        return lambda: self.server("REPLICAOF", "NO", "ONE")

    def impair(self, setting, value):
        restored = getattr(self.relay, setting)
        setattr(self.relay, setting, value)

        def repair():
            setattr(self.relay, setting, restored)
            # What was dropped is missing in the stream.
            if setting == "is_black_hole":
                self.relay.reset_all()
        return repair

    def reset(self):
        self.relay.reset_all()
        return self.relay.reset_all

    def corrupt(self):
        self.relay.corrupt(self.random.randint(1, 5))

        def end():
            self.relay.corrupt(0)
            self.relay.reset_all()
        return end

    def await_whole(self):
        self.server.await_loaded()


class Sentinel(World):
    """Three servers and three sentinels."""
    algorithm = "token_bucket"

    def __init__(self, case, random):
        super().__init__(case, random)
        self.watched = Watched(case)
        self.store = self.watched.options

    def masters(self):
        return [self.watched.await_master()]

    def faults(self):
        return [*super().faults(),
                Fault("failover: master killed", self.kill_master, quotas=1, replaced=1),
                Fault("failover: master stopped", self.stop_master, quotas=1, replaced=1),
                Fault("failover: commanded", self.fail_over, quotas=1, replaced=1),
                Fault("a sentinel killed", self.kill_sentinel)]

    def kill_master(self):
        master = self.watched.await_master()
        master.stop()
        return lambda: self.after_failover(master, master.start)

    def stop_master(self):
        master = self.watched.await_master()
        master.pause()
        return lambda: self.after_failover(master, master.resume)

    def after_failover(self, old, bring_back):
        eventually(lambda: all(sentinel.master_port() != old.port for sentinel in self.watched.sentinels),
                   "another master is elected", 90)
        bring_back()

    def fail_over(self):
        old = self.watched.await_master()
        eventually(lambda: self.is_commanded(), "the failover begins")
        return lambda: self.after_failover(old, nothing)

    def is_commanded(self):
        try:
            return self.random.choice(self.watched.sentinels)("SENTINEL", "FAILOVER", MASTER) == b"OK"
        except RedisError:
            return False  # NOGOODSLAVE or INPROG, for a moment after an earlier failover

    def kill_sentinel(self):
        sentinel = self.random.choice(self.watched.sentinels)
        sentinel.stop()
        return sentinel.start

    def await_whole(self):
        eventually(self.is_whole, "every replica follows the master", 90)

    def is_whole(self):
        try:
            master = self.watched.await_master()
            return all(server is master or b"master_link_status:up" in server("INFO", "replication")
                       for server in self.watched.servers)
        except (OSError, RedisError):
            return False


class InCluster(World):
    """Three masters with a replica each."""
    algorithm = "sliding_log"

    def __init__(self, case, random):
        super().__init__(case, random)
        self.cluster = Cluster(case, masters=3, replicas=1)
        self.store = self.cluster.store

    def masters(self):
        return [node for node in self.cluster.running() if b"role:master" in node("INFO", "replication")]

    def faults(self):
        return [*super().faults(),
                Fault("slots moved", self.move_slots),
                Fault("failover: master killed", self.kill_master, quotas=1, replaced=1),
                Fault("failover: master stopped", self.stop_master, quotas=1, replaced=1),
                Fault("failover: commanded", self.fail_over, replaced=1),
                Fault("a replica killed", self.kill_replica)]

    def move_slots(self):
        slots = sorted({slot_of(key) for key in self.cluster.keys()})
        target = self.random.choice(self.masters())
        for slot in self.random.sample(slots, min(len(slots), 40)):
            self.cluster.move(slot, target)
        return nothing

    def replicas(self):
        return [node for node in self.cluster.running() if b"role:slave" in node("INFO", "replication")]

    def kill_master(self):
        master = self.random.choice(self.masters())
        master.stop()
        return lambda: self.after_failover(master, master.start)

    def stop_master(self):
        master = self.random.choice(self.masters())
        others = [node for node in self.cluster.nodes if node is not master]
        master.pause()
        return lambda: self.after_failover(master, master.resume, others)

    def after_failover(self, master, bring_back, others=None):
        eventually(lambda: all(self.cluster.state(node) and not self.serves(node, master)
                               for node in others or self.cluster.running()), "a replica is elected", 90)
        bring_back()

    @staticmethod
    def serves(node, master):
        return any(range_[2][1] == master.port for range_ in node("CLUSTER", "SLOTS"))

    def fail_over(self):
        before = self.ports()
        eventually(self.is_commanded, "the failover begins")
        return lambda: eventually(lambda: self.ports() != before, "the replica is the master")

    def is_commanded(self):
        try:
            return self.random.choice(self.replicas())("CLUSTER", "FAILOVER") == b"OK"
        except RedisError:
            return False  # its link to the master is down, for a moment after an earlier failover

    def kill_replica(self):
        replica = self.random.choice(self.replicas())
        replica.stop()
        return replica.start

    def await_whole(self):
        self.cluster.await_whole()


WORLDS = {"standalone": Standalone, "sentinel": Sentinel, "cluster": InCluster}
