"""Many clients at once: the quota is met exactly, and connections cost little."""

import threading

from harness.case import Case, configuration, limited, scaled
from harness.upstream import answer

THREADS = 8


def in_threads(count, work):
    """Runs work(i) in that many threads; what one raises is raised here."""
    failures = []

    def guarded(i):
        try:
            work(i)
        except BaseException as failure:  # noqa: B902 - handed to the test's own thread
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


class Exactness(Case):
    """Concurrent requests are never admitted beyond the quota, nor short of it."""

    def assert_exact(self, policy, quota, limit=None):
        limits = [{"policy": "p", "key": "client", **(limit or {})}]
        weir = self.start(limited({"p": policy}, limits, workers=2))
        each = 2 * quota // THREADS
        admitted = [0] * THREADS

        def work(i):
            with weir.connect() as client:
                for _ in range(each):
                    status = client.get("/").status
                    self.assertIn(status, (200, 429))
                    admitted[i] += status == 200

        in_threads(THREADS, work)
        self.assertEqual(sum(admitted), quota)

    def test_every_algorithm_admits_its_quota_exactly_pitfall_8(self):
        quota = scaled(1000)
        for algorithm in ("fixed_window", "attributed_window", "sliding_window", "sliding_log",
                          "token_bucket", "gcra"):
            with self.subTest(algorithm=algorithm):
                self.assert_exact({"algorithm": algorithm, "rate": f"{quota}/26d"}, quota)

    def test_units_are_exact_where_requests_cost_several_pitfall_8(self):
        quota = scaled(1000)
        self.assert_exact({"algorithm": "gcra", "rate": f"{quota * 3}/260d"}, quota, {"cost": 3})

    def test_keys_are_exact_side_by_side(self):
        quota = 40
        weir = self.start(limited({"p": {"algorithm": "sliding_log", "rate": f"{quota}/1h"}},
                                  [{"policy": "p", "key": "key"}], {"key": {"header": "x-key"}},
                                  workers=2))
        lock = threading.Lock()
        admitted = {}

        def work(_):
            with weir.connect() as client:
                for turn in range(quota * 5 // 4):
                    for key in "abcd":
                        if client.get("/", {"X-Key": key}).status == 200:
                            with lock:
                                admitted[key] = admitted.get(key, 0) + 1

        in_threads(4, work)
        self.assertEqual(admitted, dict.fromkeys("abcd", quota))


class BoundedStore(Case):
    def test_a_flood_of_new_keys_does_not_free_who_is_limited_pitfall_25(self):
        weir = self.start(limited({"p": {"algorithm": "gcra", "rate": "2/1h"}},
                                  [{"policy": "p", "key": "key"}],
                                  {"key": {"header": "x-key"}},
                                  store={"memory": {"max_keys": 1000}}))
        client = self.connect(weir)
        limited_keys = [f"limited-{i}" for i in range(20)]
        for key in limited_keys:
            self.assertEqual([client.get("/", {"X-Key": key}).status for _ in range(3)],
                             [200, 200, 429])
        for i in range(5000):
            self.assertEqual(client.get("/", {"X-Key": f"flood-{i}"}).status, 200)
        self.assertEqual([client.get("/", {"X-Key": key}).status for key in limited_keys],
                         [429] * 20)


class ManyConnections(Case):
    def test_idle_connections_stay_and_others_are_served(self):
        weir = self.start(configuration(self.upstream(answer(b"fine")).url, workers=2))
        idle = [self.connect(weir) for _ in range(2000)]
        for client in idle[::100]:
            self.assertEqual(client.get("/").status, 200)
        with weir.connect() as other:
            for _ in range(100):
                self.assertEqual(other.get("/").body, b"fine")
        for client in idle[::50]:
            self.assertEqual(client.get("/").body, b"fine")
        for client in idle:
            client.close()

    def test_concurrent_requests_get_their_own_answers(self):
        _, weir, _ = self.proxy(lambda e: e.answer(e.target.encode() + e.read_body()), workers=2)

        def work(i):
            with weir.connect() as client:
                for turn in range(scaled(200)):
                    body = b"x" * (turn * 97)
                    response = client.request("POST", f"/{i}/{turn}?", body=body)
                    self.assertEqual(response.body, f"/{i}/{turn}?".encode() + body)

        in_threads(THREADS, work)
