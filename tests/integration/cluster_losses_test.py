"""A Redis Cluster: masters that are lost, and servers that are no cluster, or none with all slots."""

from harness.cluster_case import IDENTITIES, POLICIES, ROUTES, ClusterCase
from harness.clusters import Cluster
from harness.redis_case import sharing
from harness.services import free_port
from harness.waiting import eventually


class Losses(ClusterCase):
    # Requests for slots that nobody serves wait so long.
    timeout = "1s"

    def test_a_lost_master_costs_its_own_slots_only(self):
        cluster = Cluster(self, options=["--cluster-require-full-coverage", "no"])
        self.begin(cluster)
        self.statuses("/each", 1, user="l")
        lost = cluster.nodes[2]
        lost.stop()
        eventually(lambda: "of 16384 slots" in self.readiness(), "the part that is lost is reported")
        self.assertIn(f"127.0.0.1:{lost.port}", self.readiness())
        before = self.sent
        for user in range(60):
            self.assertEqual(self.statuses("/each", 1, user=f"l{user}"), [200])
        stores = self.stores(before)
        self.assertGreater(stores.count("redis"), 20)
        self.assertGreater(stores.count("local"), 5)
        self.assertEqual(len(stores), 60)
        lost.start()
        eventually(self.is_whole, "all slots are served again")

    def test_a_replica_takes_over(self):
        cluster = Cluster(self, replicas=1)
        self.begin(cluster)
        self.statuses("/each", 1, user="f")
        lost = cluster.nodes[0]
        lost.stop()
        eventually(lambda: all(cluster.state(node) for node in cluster.running()), "the replica is elected", 60)
        eventually(self.is_whole, "Weir uses the new master", 30)
        before = self.sent
        for user in range(30):
            self.assertEqual(self.statuses("/each", 1, user=f"g{user}"), [200])
        self.assertEqual(set(self.stores(before)), {"redis"})
        self.assertIn("redis is back", self.weir.stderr)
        old, new = f"127.0.0.1:{lost.port}", f"127.0.0.1:{cluster.master_of(0).port}"
        self.assertEqual(self.changes(),
                         [f"{new} has taken over 5461 slots of {old}; new master: {new}; no longer a master: {old}"])


    def test_a_master_that_hangs_and_is_killed_is_named_as_not_running(self):
        cluster = Cluster(self, options=["--cluster-require-full-coverage", "no"])
        self.begin(cluster)
        lost = cluster.nodes[2]
        lost.pause()  # connections are still accepted
        for user in range(20):
            self.statuses("/each", 1, user=f"k{user}")
        lost.stop()
        eventually(lambda: f"127.0.0.1:{lost.port}: Connection refused; check that Redis is running at this address"
                   in self.readiness(), "/readyz has the reason")
        self.assertNotIn("check that it is Redis", self.weir.stderr)

    def test_the_master_that_is_down_is_the_reason_why_the_others_refuse(self):
        cluster = Cluster(self)
        self.begin(cluster)
        lost = cluster.nodes[2]
        lost.stop()
        self.addCleanup(lost.stop)

        def is_refused():
            for user in range(10):
                self.statuses("/each", 1, user=f"d{user}")
            return "CLUSTERDOWN" in self.weir.stderr
        eventually(is_refused, "the cluster is down", 60)
        self.assertIn(f"127.0.0.1:{lost.port}: Connection refused", self.readiness())
        lost.start()
        eventually(self.is_whole, "all slots are served again", 30)


class Start(ClusterCase):
    def begin_wrong(self, server):
        """It starts although it could wait longer for the cluster."""
        self.weir = self.start(sharing("redis://unused", POLICIES, identities=IDENTITIES, routes=ROUTES,
                                       admin={"address": "127.0.0.1:0"},
                                       redis={"topology": "cluster", "servers": [f"127.0.0.1:{server.port}"],
                                              "connect_timeout": "1m", "replicas": 1}))
        self.assertEqual(self.statuses("/each", 1, user="s"), [200])

    def await_reason(self, *texts):
        for text in texts:
            eventually(lambda: text in self.readiness(), f"/readyz has {text!r}")

    def test_a_node_that_has_not_joined_a_cluster(self):
        node = self.redis("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
        self.begin_wrong(node)
        self.await_reason("16384 of 16384 slots: "
                          f"127.0.0.1:{node.port} has not joined a cluster with slots; see redis-cli --cluster check")

    def test_a_cluster_whose_slots_have_not_all_a_master(self):
        node = self.redis("--cluster-enabled", "yes", "--cluster-port", str(free_port()),
                          "--cluster-require-full-coverage", "no")
        node("CLUSTER", "ADDSLOTSRANGE", 0, 9999)
        self.begin_wrong(node)
        self.await_reason("6384 of 16384 slots: slots have no master; see redis-cli --cluster check, and assign them")
        node("CLUSTER", "ADDSLOTSRANGE", 10000, 16383)
        eventually(self.is_whole, "all slots are served")
        self.assertEqual(self.changes(), [f"127.0.0.1:{node.port} has taken over 6384 slots without a master"])

    def test_a_replica_without_cluster_support(self):
        replica = self.redis()
        replica("REPLICAOF", "127.0.0.1", self.redis().port)
        self.begin_wrong(replica)
        self.await_reason(f"127.0.0.1:{replica.port}: ERR This instance has cluster support disabled; "
                          "write topology: standalone")
        eventually(lambda: "redis could not decide (read_only: " in self.weir.stderr, "the error is logged")
        self.assertIn("list nodes of a cluster in store.redis.servers", self.weir.stderr)
        self.assertNotIn("store.redis.url", self.weir.stderr)

    def test_a_standalone_server_of_a_cluster_says_what_to_write(self):
        cluster = Cluster(self)
        self.weir = self.start(sharing(cluster.nodes[0].url, POLICIES, identities=IDENTITIES, routes=ROUTES,
                                       redis={"replicas": 1}))
        for user in range(20):
            self.statuses("/each", 1, user=f"s{user}")
        eventually(lambda: "topology: cluster" in self.weir.stderr, "the remedy is logged")

    def test_a_server_without_a_cluster_is_not_used(self):
        server = self.redis()
        self.begin_wrong(server)
        self.await_reason("16384 of 16384 slots", "cluster support disabled; write topology: standalone")
        self.assertEqual(self.stores(), ["local"])
