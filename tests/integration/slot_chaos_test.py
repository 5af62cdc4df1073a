"""Four instances that share slots in one Redis and are killed at random: never more requests in progress than slots,
and no slot is lost. WEIR_CHAOS_KILLS and WEIR_CHAOS_REQUESTS make the run longer (script/chaos)."""

import os
import random
import re
import threading
import time

from harness.case import configuration
from harness.message import Truncated
from harness.redis_case import SECRET, RedisCase
from harness.waiting import eventually

LIMIT = 20
LEASE_S = 10
KILLS = int(os.environ.get("WEIR_CHAOS_KILLS", "10"))
REQUESTS = int(os.environ.get("WEIR_CHAOS_REQUESTS", "1000"))
SEED = int(os.environ.get("WEIR_CHAOS_SEED", "1"))
POLICIES = {"slots": {"algorithm": "concurrency", "limit": LIMIT, "queue": 200, "max_wait": "1m"}}


class Work:
    """A service whose requests take a random time; /gate takes until the gate is open."""

    def __init__(self):
        self.lock = threading.Lock()
        self.random = random.Random(SEED)
        self.gate = threading.Event()
        self.now, self.most, self.answered = 0, 0, 0

    def __call__(self, exchange):
        exchange.read_body()
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            takes_s = self.random.expovariate(1 / 0.01)
        if exchange.target == "/gate":
            self.gate.wait(120)
        else:
            time.sleep(min(takes_s, 0.2))
        with self.lock:
            self.now -= 1
            self.answered += 1
        exchange.answer(b"", "200 OK")


class SlotChaos(RedisCase):
    def setUp(self):
        super().setUp()
        self.redis_server = self.redis()
        self.work = Work()
        self.service = self.upstream(self.work)
        self.weirs = [self.begin() for _ in range(4)]
        self.statuses, self.lost = [], 0
        self.lock = threading.Lock()

    def begin(self):
        weir = self.start(configuration(
            self.service.url, policies=POLICIES, identity_secret=SECRET, admin={"address": "127.0.0.1:0"},
            routes=[{"upstream": "main", "limits": [{"policy": "slots", "key": "client"}]}],
            store={"type": "redis", "redis": {"url": self.redis_server.url, "timeout": "2s", "replicas": 4}}))
        self.await_redis(weir)
        return weir

    def ask(self, weir, target="/"):
        try:
            with self.connect(weir) as client:
                status = client.get(target).status
        except (OSError, Truncated):
            with self.lock:
                self.lost += 1
            return
        with self.lock:
            self.statuses.append(status)

    def send_many(self, seed):
        chosen = random.Random(seed)
        while True:
            with self.lock:
                if len(self.statuses) + self.lost >= REQUESTS and self.kills_are_over:
                    return
            self.ask(self.weirs[chosen.randrange(4)])

    def queued(self):
        total = 0
        for weir in self.weirs:
            text = self.connect_admin(weir).get("/metrics").body.decode()
            total += int(re.search(r'^weir_queued{policy="slots"} (\d+)$', text, re.M)[1])
        return total

    def test_no_slot_is_lost_and_none_is_used_twice(self):
        chosen = random.Random(SEED)
        self.kills_are_over = False
        clients = [threading.Thread(target=self.send_many, args=(seed,)) for seed in range(40)]
        for client in clients:
            client.start()
        for _ in range(KILLS):
            time.sleep(chosen.uniform(0.05, 0.4))
            index = chosen.randrange(4)
            self.weirs[index].kill()
            self.weirs[index].is_stopped = True
            self.weirs[index] = self.begin()
        self.kills_are_over = True
        for client in clients:
            client.join()
        self.assertEqual(set(self.statuses), {200})
        self.assertLessEqual(self.work.most, LIMIT)

        # Every slot is free again once the leases of the killed instances have ended.
        gated = [threading.Thread(target=self.ask, args=(self.weirs[i % 4], "/gate")) for i in range(LIMIT + 4)]
        for client in gated:
            client.start()
        eventually(lambda: self.work.now == LIMIT, "every slot is in use", 3 * LEASE_S)
        eventually(lambda: self.queued() == 4, "the others wait", 10)
        self.work.gate.set()
        for client in gated:
            client.join()
        self.assertEqual(set(self.statuses), {200})
        self.assertEqual(self.work.most, LIMIT)
