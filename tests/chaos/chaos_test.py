"""Faults of Redis, of the network and of Weir under load, on real processes. Every history is checked against the model
of history.py. WEIR_CHAOS_MINUTES makes the run longer; WEIR_CHAOS_REPORT is the file for its table (script/chaos).
"""

import json
import os
import random
import time
import unittest
from pathlib import Path

from harness.case import SCALE
from harness.redis_case import RedisCase
from harness.waiting import eventually
from history import ADMITTED, DENIED, UNDECIDED, Allowance, judge
from load import Load
from report import table
from worlds import HELD, INSTANCES, QUOTAS, WORLDS

MINUTES = float(os.environ.get("WEIR_CHAOS_MINUTES", "0"))
SEED = os.environ.get("WEIR_CHAOS_SEED", "1")
REPORT = os.environ.get("WEIR_CHAOS_REPORT", "")
TOPOLOGIES = os.environ.get("WEIR_CHAOS_TOPOLOGIES", " ".join(WORLDS)).split()
# Without minutes: a fault of every kind that no other test has.
SHORT = {"standalone": ["network: throttled", "network: bytes corrupted", "Redis: kill -9, nothing lost",
                        "a script that does not end", "Redis: clock stepped"],
         "sentinel": ["failover: master killed", "Weir: kill -9"],
         "cluster": ["slots moved", "failover: master killed", "Weir: stopped and continued"]}
BACK_S = 60.0 * SCALE


class Chaos(RedisCase):
    rounds = []

    @classmethod
    def tearDownClass(cls):
        if REPORT and cls.rounds:
            Path(REPORT).write_text(table(cls.rounds, QUOTAS))

    def run_world(self, topology):
        self.assertLessEqual(set(TOPOLOGIES), set(WORLDS), "WEIR_CHAOS_TOPOLOGIES")
        if topology not in TOPOLOGIES:
            self.skipTest("not in WEIR_CHAOS_TOPOLOGIES")
        chosen = random.Random(f"{SEED} {topology}")
        world = WORLDS[topology](self, chosen)
        world.start_instances()
        faults = world.faults()
        violations = []
        for number, fault in enumerate(self.schedule(topology, faults, chosen)):
            found = self.round(world, fault, f"{topology}-{number}", chosen)
            found.update(topology=topology, fault=fault.name)
            self.rounds.append(found)
            if MINUTES:
                print(json.dumps(found), flush=True)
            violations += [f"{fault.name}, round {number} of seed {SEED}: {text}" for text in found["violations"]]
        self.assertEqual(violations, [])
        leased = sum(self.gauge(weir, "weir_leased_decisions_total") for weir in world.weirs)
        self.assertGreater(leased, 0, "no request was decided from a lease")

    @staticmethod
    def schedule(topology, faults, chosen):
        if not MINUTES:
            yield from (next(fault for fault in faults if fault.name == name) for name in SHORT[topology])
            return
        till = time.monotonic() + 60 * MINUTES / len(TOPOLOGIES)
        while True:
            for fault in chosen.sample(faults, len(faults)):
                if time.monotonic() > till:
                    return
                yield fault

    def round(self, world, fault, name, chosen):
        """Load with the fault in its middle; then the quota of every client is used up."""
        lasts_s = chosen.uniform(0.2, 2.5)
        before = world.ports()
        local = self.decided_locally(world)
        with Load(world, name, f"{SEED} {name}") as load:
            time.sleep(chosen.uniform(0.2, 0.6))
            end = fault.begin()
            try:
                time.sleep(lasts_s)
            finally:
                end()
            ended_at = time.monotonic()
            back_s = self.await_decisions(world, name)
        world.await_whole()
        self.await_decisions(world, name + "-whole")
        for policy in "strict", "shared":
            load.use_up(policy)
        more = max(0, len(before - world.ports()) - fault.replaced)
        held = self.held(fault, more)
        load.use_up("leased", 0 if fault.is_damaged else QUOTAS["leased"] - fault.slack - held)
        # An instance that was killed has lost its number.
        is_local = fault.kills_instance or self.decided_locally(world) != local
        return self.judged(load, fault, more, is_local, ended_at, back_s, held)

    @staticmethod
    def held(fault, failovers):
        """What is charged of leases that were not given back. An instance cannot give units back to a master that is
        gone: the next one may have the lease and not its end."""
        if failovers or fault.replaced:
            return INSTANCES * HELD
        return HELD if fault.kills_instance else 0

    def decided_locally(self, world):
        return sum(self.gauge(weir, "weir_decision_duration_seconds_count", store="local") for weir in world.weirs)

    def await_decisions(self, world, name):
        """The time until Redis decides the requests of every instance again, whatever their keys."""
        began_at = time.monotonic()
        count = [0]

        def all_decided():
            count[0] += 1
            for weir in world.weirs:
                for user in range(24):
                    # Connections of their own, so that all workers are asked.
                    with weir.connect() as client:
                        if client.get("/strict", [("x-user", f"{name}-{count[0]}-{user}")]).status != ADMITTED:
                            return False
            return True

        eventually(all_decided, "Redis decides again", BACK_S)
        return time.monotonic() - began_at

    def judged(self, load, fault, failovers, is_local, ended_at, back_s, held):
        """`failovers`: those that the fault did not cause."""
        killed = 1 / INSTANCES if fault.kills_instance else 0
        quotas = fault.quotas + failovers
        strict = Allowance(quotas, None if failovers else ended_at, fault.slack, fault.is_damaged)
        # Local decisions add the shares of the instances; one that is killed forgets what it has admitted alone.
        shared = Allowance(quotas + is_local + killed, None, fault.slack, fault.is_damaged)
        # A lease from before a loss is spent for up to its duration, and nothing is charged for it.
        leased = Allowance(quotas, None if failovers else ended_at + 0.25, fault.slack, fault.is_damaged, is_leased=True, held=held)
        judgements = {"strict": self.judge(load, "strict", strict, {ADMITTED, DENIED, UNDECIDED}, True),
                      "shared": self.judge(load, "shared", shared, {ADMITTED, DENIED}, False),
                      "leased": self.judge(load, "leased", leased, {ADMITTED, DENIED, UNDECIDED}, True)}
        return {"requests": sum(one.requests for one in judgements.values()),
                "strict_requests": judgements["strict"].requests,
                "undecided": judgements["strict"].undecided + judgements["strict"].lost,
                "excess": {policy: one.excess for policy, one in judgements.items()},
                "allowed": {"strict": strict.quotas, "shared": shared.quotas, "leased": leased.quotas},
                "back_s": back_s,
                "violations": [text for one in judgements.values() for text in one.violations]}

    @staticmethod
    def judge(load, policy, allowance, statuses, is_exact):
        return judge(load.events[policy], QUOTAS[policy], allowance, statuses, is_exact)

    def test_standalone(self):
        self.run_world("standalone")

    def test_sentinel(self):
        self.run_world("sentinel")

    def test_cluster(self):
        self.run_world("cluster")


if __name__ == "__main__":
    unittest.main()
