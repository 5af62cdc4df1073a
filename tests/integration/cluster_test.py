"""A Redis Cluster: keys in their slots, redirections, resharding, and exact counts in all of it."""

import json
import signal
import threading

from harness.client import request_bytes
from harness.cluster_case import IDENTITIES, POLICIES, ROUTES, ClusterCase
from harness.clusters import Cluster, slot_of
from harness.override_case import in_an_hour
from harness.redis_case import sharing
from harness.reload_case import ReloadCase, copied
from harness.waiting import eventually

PASSWORD = "p4ss-of-the-cluster"


class Standalone(ClusterCase):
    def test_a_node_with_topology_standalone_is_reported(self):
        cluster = Cluster(self)
        self.weir = self.start(sharing(cluster.nodes[0].url, POLICIES, identities=IDENTITIES, routes=ROUTES,
                                       admin={"address": "127.0.0.1:0"},
                                       redis={"timeout": self.timeout, "connect_timeout": "2s", "replicas": 1}))
        self.await_redis(self.weir)
        for user in range(30):
            self.statuses("/each", 1, user=str(user))
        self.assertIn("redis", self.stores())
        eventually(lambda: "redis answers for a part of the keys only: the server is a node of a Redis Cluster; "
                   "write topology: cluster in store.redis" in self.readiness(), "/readyz has the reason")


class Keys(ClusterCase):
    def test_each_key_is_counted_by_the_master_of_its_slot(self):
        cluster = Cluster(self, password=PASSWORD)
        self.begin(cluster, f"redis://:{PASSWORD}@unused")
        for user in range(30):
            self.assertEqual(self.statuses("/each", 2, user=f"u{user}"), [200, 200])
        self.assertTrue(all(node.calls("evalsha") > 2 for node in cluster.nodes))
        for node in cluster.nodes:
            self.assertGreater(node("DBSIZE"), 2)
            keys = node("KEYS", "weir:*}:each:*")
            self.assertNotEqual(keys, [])
            for key in keys:
                self.assertIs(cluster.master_of(slot_of(key)), node)
            # Weir computes the slots: no node has to redirect it.
            self.assertNotIn(b"errorstat_MOVED", node("INFO", "errorstats"))
        self.assertEqual(set(self.stores()), {"redis"})
        for node in cluster.nodes:
            self.assertEqual(self.gauge(self.weir, "weir_store_node_up", node=f"127.0.0.1:{node.port}"), 1)

    def test_claims_in_several_slots_are_all_or_nothing(self):
        cluster = Cluster(self)
        self.begin(cluster)
        sent = []
        for user in range(10):
            sent += self.statuses("/both", 40, user=f"u{user}", group="g")
        self.assertEqual(sent.count(200), 300)
        # Denied requests were charged to no user: each has its 50 minus what was admitted.
        eventually(lambda: self.gauge(self.weir, "weir_store_in_flight") == 0, "everything is settled")
        left = [self.statuses("/each", 60, user=f"u{user}").count(200) for user in range(10)]
        self.assertEqual(sum(left), 10 * 50 - 300)
        self.assertEqual(set(self.stores()), {"redis"})

    def test_one_seed_is_enough_and_may_be_the_url(self):
        cluster = Cluster(self)
        self.begin(cluster, cluster.nodes[1].url, servers=[])
        self.assertEqual(set(self.statuses("/each", 5, user="a")), {200})
        self.assertEqual(set(self.stores()), {"redis"})

    def test_overrides_reach_the_node_of_their_identity(self):
        cluster = Cluster(self)
        self.begin(cluster)
        with self.connect_admin(self.weir) as admin:
            for user in range(6):
                body = json.dumps({"identity": "user", "key": f"u{user}", "deny": True, "until": in_an_hour()}).encode()
                put = admin.request("PUT", "/v1/overrides", [("content-type", "application/json")], body)
                self.assertEqual(put.status, 200)
            listed = admin.get("/v1/overrides").json()
        self.assertEqual(len(listed["overrides"]), 6)
        for user in range(6):
            self.assertEqual(self.statuses("/each", 1, user=f"u{user}"), [403])


class Moves(ClusterCase):
    def test_resharding_under_load_loses_and_repeats_no_count(self):
        """All slots of one master move to a new one while requests come."""
        cluster = Cluster(self)
        self.begin(cluster)
        self.statuses("/each", 1, user="u0")
        new = cluster.add()
        results = {}
        over = threading.Event()
        self.addCleanup(over.set)

        def send(user):
            """Half of the quota at most before the moves are over, and then more than the rest."""
            results[user] = []
            with self.weir.connect() as client:
                while len(results[user]) < 350:
                    if len(results[user]) == 150:
                        over.wait()
                    results[user].append(client.get("/many", [("x-user", user)]).status)
        users = [f"w{i}" for i in range(4)]
        threads = [threading.Thread(target=send, args=(user,)) for user in users]
        for thread in threads:
            thread.start()
        eventually(lambda: all(len(results.get(user, ())) > 10 for user in users), "requests are sent")
        for slot in sorted({slot_of(key) for key in cluster.keys()}):
            cluster.move(slot, new)
        over.set()
        for thread in threads:
            thread.join()
        for user in users:
            self.assertEqual(results[user].count(200), 300, user)
            self.assertLessEqual(set(results[user]), {200, 429})
        self.sent += sum(len(statuses) for statuses in results.values())
        self.assertEqual(set(self.stores()), {"redis"})
        self.assertGreater(new.calls("evalsha"), 0)

    def test_a_key_that_has_moved_before_its_slot_is_found_by_asking(self):
        cluster = Cluster(self, masters=2)
        self.begin(cluster, routes=ROUTES[:1])
        # With an override both keys of the request exist, so they can be asked for while the slot moves.
        with self.connect_admin(self.weir) as admin:
            body = json.dumps({"identity": "user", "key": "m", "policy": "each", "rate": "40/26d",
                               "until": in_an_hour()}).encode()
            self.assertEqual(admin.request("PUT", "/v1/overrides", [("content-type", "application/json")], body).status,
                             200)
        self.assertEqual(self.statuses("/each", 20, user="m"), [200] * 20)
        slot = slot_of(next(key for key in cluster.keys() if b":each:" in key))
        target = next(node for node in cluster.nodes if node is not cluster.master_of(slot))
        source = cluster.begin_move(slot, target)
        self.assertEqual(self.statuses("/each", 5, user="m"), [200] * 5)  # the keys are still at the source
        cluster.move_keys(slot, source, target)
        self.assertEqual(self.statuses("/each", 35, user="m").count(200), 15)
        self.assertGreater(target.calls("asking"), 0)
        cluster.end_move(slot, source, target)
        self.assertEqual(self.statuses("/each", 5, user="m").count(200), 0)
        self.assertEqual(set(self.stores()), {"redis"})

    def test_a_request_whose_keys_are_at_two_nodes_waits_for_the_move(self):
        cluster = Cluster(self, masters=2)
        self.begin(cluster, timeout="30s")
        self.assertEqual(self.statuses("/each", 20, user="m"), [200] * 20)
        slot = slot_of(next(key for key in cluster.keys() if b":each:" in key))
        target = next(node for node in cluster.nodes if node is not cluster.master_of(slot))
        source = cluster.begin_move(slot, target)
        results = []
        request = threading.Thread(target=lambda: results.extend(self.statuses("/each", 1, user="m")))
        request.start()
        eventually(lambda: b"errorstat_TRYAGAIN" in source("INFO", "errorstats"), "the source refuses the request")
        cluster.move_keys(slot, source, target)
        eventually(lambda: b"errorstat_TRYAGAIN" in target("INFO", "errorstats"), "the target refuses the request")
        self.assertEqual(results, [])
        cluster.end_move(slot, source, target)
        request.join()
        self.assertEqual(results, [200])
        self.assertEqual(self.statuses("/each", 35, user="m").count(200), 29)
        self.assertEqual(set(self.stores()), {"redis"})

    def joined(self):
        return self.gauge(self.weir, "weir_joined_calls_total")

    def load_joined_scripts(self):
        """The first questions that could share a call are sent one by one, and the node loads the script."""
        for i in range(10):  # keys of both masters
            self.burst(f"first-{i}")
            self.burst(f"first-{i}")
        self.assertGreater(self.joined(), 0)

    def joined_burst(self, user, **options):
        before = self.joined()
        statuses = self.burst(user, **options)
        self.assertGreater(self.joined(), before)
        return statuses

    def burst(self, user, count=20, between=lambda: None):
        """The statuses of requests that Weir reads in one pass of its loops."""
        clients = [self.connect(self.weir) for _ in range(count)]
        self.weir.signal(signal.SIGSTOP)
        for client in clients:
            client.send(request_bytes("GET", "/many", [("x-user", user)]))
        self.weir.signal(signal.SIGCONT)
        between()
        statuses = [client.read().status for client in clients]
        for client in clients:
            client.close()
        self.sent += count
        return statuses

    def test_joined_calls_follow_a_slot_that_moves(self):
        cluster = Cluster(self, masters=2)
        self.begin(cluster, timeout="30s", routes=ROUTES[2:3])
        self.load_joined_scripts()
        before = set(cluster.keys())
        # With an override both keys of a request exist, so they can be asked for while the slot moves.
        with self.connect_admin(self.weir) as admin:
            body = json.dumps({"identity": "user", "key": "j", "policy": "many", "rate": "110/26d",
                               "until": in_an_hour()}).encode()
            self.assertEqual(admin.request("PUT", "/v1/overrides", [("content-type", "application/json")], body).status,
                             200)
        self.assertEqual(self.joined_burst("j"), [200] * 20)
        slot = slot_of(next(key for key in cluster.keys() if b":many:" in key and key not in before))
        target = next(node for node in cluster.nodes if node is not cluster.master_of(slot))
        source = cluster.begin_move(slot, target)
        self.assertEqual(self.joined_burst("j"), [200] * 20)  # the keys are still at the source
        cluster.move_keys(slot, source, target)
        self.assertEqual(self.joined_burst("j"), [200] * 20)
        self.assertGreater(target.calls("asking"), 0)
        cluster.end_move(slot, source, target)
        self.assertEqual(self.joined_burst("j"), [200] * 20)
        cluster.move(slot, source)
        self.assertEqual(self.joined_burst("j"), [200] * 20)  # moved without a redirection before
        self.assertEqual(sorted(self.joined_burst("j")), [200] * 10 + [429] * 10)
        self.assertEqual(set(self.stores()), {"redis"})

    def test_joined_calls_wait_for_the_move_of_their_keys(self):
        cluster = Cluster(self, masters=2)
        self.begin(cluster, timeout="30s", routes=ROUTES[2:3])
        self.load_joined_scripts()
        before = set(cluster.keys())
        self.assertEqual(self.joined_burst("m"), [200] * 20)
        slot = slot_of(next(key for key in cluster.keys() if b":many:" in key and key not in before))
        target = next(node for node in cluster.nodes if node is not cluster.master_of(slot))
        source = cluster.begin_move(slot, target)

        def finish():
            for node, why in (source, "the source refuses the requests"), (target, "the target refuses the requests"):
                eventually(lambda: b"errorstat_TRYAGAIN" in node("INFO", "errorstats"), why)
                cluster.move_keys(slot, source, target)
            cluster.end_move(slot, source, target)
        self.assertEqual(self.joined_burst("m", between=finish), [200] * 20)
        self.assertEqual(self.statuses("/many", 265, user="m").count(200), 260)
        self.assertEqual(set(self.stores()), {"redis"})

    def test_holds_are_settled_at_the_node_that_has_the_key_now(self):
        cluster = Cluster(self, masters=2)
        self.begin(cluster)
        self.assertEqual(self.statuses("/both", 10, user="h", group="h"), [200] * 10)
        source, target = cluster.nodes
        for slot in sorted({slot_of(key) for key in source("KEYS", "*")}):
            cluster.move(slot, target)
        self.assertEqual(self.statuses("/both", 45, user="h", group="h").count(200), 40)
        self.assertEqual(set(self.stores()), {"redis"})
        eventually(lambda: not any(b":h" == key[-2:] for key in cluster.keys()), "all holds have ended")

    def test_a_node_that_has_lost_its_slots_is_left(self):
        cluster = Cluster(self, masters=2)
        self.begin(cluster)
        self.statuses("/each", 1, user="r")
        slots = sorted({slot_of(key) for key in cluster.keys()})
        sources = {slot: cluster.master_of(slot) for slot in slots}
        new = cluster.add()
        for slot in slots:
            cluster.move(slot, new)
        self.assertEqual(self.statuses("/each", 3, user="r"), [200] * 3)
        eventually(lambda: b"name=weir" in new("CLIENT", "LIST"), "the new node is connected")
        eventually(lambda: self.changes() and self.changes()[0].endswith(f"; new master: 127.0.0.1:{new.port}"),
                   "the new master is logged")
        self.assertRegex(self.changes()[0], rf"^127\.0\.0\.1:{new.port} has taken over \d+ slots? of ")
        for slot in slots:
            cluster.move(slot, sources[slot])
        self.assertEqual(self.statuses("/each", 3, user="r"), [200] * 3)
        self.assertNotIn("deciding by on_failure", self.weir.stderr)  # while the new node was being connected
        eventually(lambda: b"name=weir" not in new("CLIENT", "LIST"), "the node without slots is left")
        self.assertEqual(self.statuses("/each", 60, user="r").count(200), 43)
        self.assertEqual(set(self.stores()), {"redis"})


class Reloads(ReloadCase, ClusterCase):
    def up(self):
        """The masters that are reported, and whether they are up."""
        samples = self.scrape()
        keys = [("weir_store_node_up", frozenset({("node", node)})) for node in self.nodes]
        return [samples[key] for key in keys if key in samples]

    def test_the_masters_of_a_cluster_that_is_left_are_not_reported(self):
        cluster = Cluster(self)
        self.begin(cluster)
        self.statuses("/each", 1, user="r")
        self.nodes = [f"127.0.0.1:{node.port}" for node in cluster.nodes]
        self.assertEqual(self.up(), [1, 1, 1])
        config = copied(self.weir.configuration)
        redis = config["store"]["redis"]
        redis.update(topology="standalone", url=self.redis().url)
        redis.pop("servers", None)
        self.assertEqual(self.reload(config)["changed"], ["store.redis"])
        eventually(lambda: self.up() == [], "no master of the cluster is reported")
