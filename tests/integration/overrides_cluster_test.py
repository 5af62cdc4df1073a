"""Overrides in a Redis that is a cluster of one node, which has all slots: Weir connects to one server, so
a cluster of several is refused. The node rejects a script whose keys are in different slots."""

from harness.limit_fields import limit_fields
from harness.override_case import ALGORITHMS, OverrideCase, in_an_hour
from harness.services import free_port
from harness.waiting import eventually

KEYS = [f"customer-{i}" for i in range(8)]


class InCluster(OverrideCase):
    def setUp(self):
        super().setUp()
        # Else its other port is ten thousand higher, where there may be none.
        redis = self.redis("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
        redis("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        eventually(lambda: b"cluster_state:ok" in redis("CLUSTER", "INFO"), "the cluster is up")
        self.first, self.second = self.shared(2)

    def slot(self, key):
        return self.servers[0]("CLUSTER", "KEYSLOT", key)

    def hashes(self, **query):
        listed = self.ask(self.second, "GET", **query).json()
        self.assertTrue(listed["complete"])
        return sorted(one["hash"] for one in listed["overrides"])

    def test_they_count_for_keys_of_different_slots(self):
        hashes = {key: self.put(self.first, key, policy="gcra", rate=f"{5 + i}/5h", until=in_an_hour())["hash"]
                  for i, key in enumerate(KEYS)}
        self.assertGreater(len({self.slot(f"weir:{{{hash}}}:!") for hash in hashes.values()}), 1)
        for i, key in enumerate(KEYS):
            self.assertEqual(limit_fields(self.get(self.second, key=key)).policies["gcra"]["q"], 5 + i)
        self.assertEqual(limit_fields(self.get(self.second)).policies["gcra"]["q"], 2)
        for hash in hashes.values():
            # Of one client all keys are in one slot.
            keys = {key for key in self.servers[0].keys() if hash.encode() in key}
            self.assertEqual(len(keys), 2)
            self.assertEqual(len({self.slot(key) for key in keys}), 1)
        self.assertEqual(self.hashes(), sorted(hashes.values()))
        self.assertEqual(self.hashes(identity="api_key", key=KEYS[0]), [hashes[KEYS[0]]])
        self.assertEqual(self.delete(self.first, KEYS[0], policy="gcra"), 204)
        self.assertEqual(self.delete(self.first, KEYS[0], policy="gcra"), 404)
        self.assertEqual(limit_fields(self.get(self.second, key=KEYS[0])).policies["gcra"]["q"], 2)
        self.assertEqual(self.hashes(), sorted(hashes[key] for key in KEYS[1:]))

    def test_a_denial_counts_on_the_other_instance_for_every_algorithm(self):
        self.put(self.first, KEYS[0], deny=True, until=in_an_hour())
        self.assertEqual([self.get(self.second, name, KEYS[0]).status for name in ALGORITHMS],
                         [403] * len(ALGORITHMS))
        self.assertEqual(self.get(self.second, key="another").status, 200)

    def test_a_raised_limit_ends_a_remembered_denial(self):
        for key in KEYS:
            eventually(lambda: self.get(self.second, key=key).status == 429, "a denial")
            self.assertEqual(self.statuses(self.second, 5, key=key), [429] * 5)
            self.put(self.first, key, policy="gcra", unlimited=True, until=in_an_hour())
            self.assertEqual(self.statuses(self.second, 5, key=key), [200] * 5)
