"""Weir answers as envoyproxy/ratelimit does: the same files and the same requests, with a Redis each."""

import json
import os
import random
import time

from harness.random_limits import RandomLimits
from harness.ratelimit_reference import Reference
from harness.rls_case import RlsCase

SEED = int(os.environ.get("WEIR_TEST_SEED", "1"))
TURNS = int(os.environ.get("WEIR_TEST_MUTATIONS", "600"))
AS_REFERENCE = {"algorithm": "reference", "charge": "reference"}


def comparable(answer):
    """Without the time until the reset, which depends on when it was asked."""
    return (answer.grpc_status, answer.details, answer.code,
            [(one.code, one.limit, one.remaining, one.reset is not None, one.name) for one in answer.statuses])


class AsTheReference(RlsCase):
    def compare(self, seed, redis=None):
        # Another build is a newer one: the pinned version has no metadata and other patterns and quotas.
        limits = RandomLimits(random.Random(seed), newer="WEIR_RATELIMIT_REFERENCE" in os.environ)
        reference = Reference(limits.file)
        self.addCleanup(reference.stop)
        client = self.serve_limits(limits.file, redis=redis, service=AS_REFERENCE)
        codes = set()
        began_at = time.time()
        for turn in range(TURNS):
            asked = limits.request()
            expected, found = reference.client.send(asked), client.send(asked)
            if time.time() // 3600 != began_at // 3600:
                self.skipTest("an hour of the clock ended during the test, and with it all windows of an hour")
            self.assertEqual(comparable(found), comparable(expected),
                             f"seed {seed}, request {turn}: {asked}\nfile: {json.dumps(limits.file)}")
            codes.add(found.code)
        self.assertLessEqual({"OK", "OVER_LIMIT"}, codes)

    def test_with_redis(self):
        for seed in range(SEED, SEED + 3):
            with self.subTest(seed=seed):
                self.compare(seed, self.redis())

    def test_with_the_memory_store(self):
        for seed in range(SEED + 3, SEED + 5):
            with self.subTest(seed=seed):
                self.compare(seed)
