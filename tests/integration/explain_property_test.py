"""`weir explain` and a running Weir agree about random configurations and requests.

WEIR_TEST_EXPLAINED is the number of configurations, WEIR_TEST_SEED where to begin.
"""

import base64
import json
import math
import os
import random
import re
import tempfile
from pathlib import Path

from harness import random_configuration
from harness.case import Case, scaled
from harness.client import Connection, request_bytes
from harness.upstream import answer
from harness.weir import Weir, run

CONFIGURATIONS = int(os.environ.get("WEIR_TEST_EXPLAINED", "200"))
SEED = int(os.environ.get("WEIR_TEST_SEED", "1"))
REQUESTS = 4  # of each configuration
ITEM = re.compile(r'"(?P<name>[^"]*)"'
                  r'(?:;q=(?P<q>\d+);(?:w=(?P<w>\d+)|qu="concurrent-requests")|;r=(?P<r>\d+)(?:;t=\d+)?);pk=:(?P<pk>[^:]*):')
# Their windows begin at whole multiples of time, so their reset depends on when they are asked.
BY_THE_CLOCK = ("fixed_window", "attributed_window", "sliding_window")


def explained(file, request):
    fields = [part for name, value in request.fields for part in ("-H", f"{name}: {value}")]
    result = run("explain", "--config", str(file), "--json", "--method", request.method,
                 "--peer", request.peer, *fields, f"http://{request.host}{request.target}")
    return result, json.loads(result.stdout) if result.returncode == 0 else None


def answered(weir, request):
    with Connection(weir.address, source=request.peer) as connection:
        connection.send(request_bytes(request.method, request.target, request.fields,
                                      request.body or None, host=request.host))
        return connection.read(request.method)


def partition(identity):
    return base64.b64encode(bytes.fromhex(identity["hash"])).decode()


def key_of(limit):
    return limit["policy"], limit["identity"]["hash"]


class Agreement(Case):
    def test_what_explain_shows_is_what_a_running_weir_does(self):
        service = self.upstream(answer(b"served"))
        self.seen = {}  # outcomes, so that a change of the generator cannot make the test empty
        valid = 0
        for number in range(SEED, SEED + scaled(CONFIGURATIONS)):
            with self.subTest(seed=number):
                valid += self.check_configuration(random.Random(number), service.url)
        self.assertGreater(valid, scaled(CONFIGURATIONS) * 0.9)
        if CONFIGURATIONS >= 150 and scaled(2) == 2:
            for outcome in ("allowed", "denied", "shadow_denied", "refused"):
                self.assertGreater(self.seen.get(outcome, 0), 5, self.seen)

    def check_configuration(self, generator, upstream):
        directory = Path(self.directory())
        log = directory / "access.log"
        configuration = random_configuration.configuration(generator, upstream, log)
        file = directory / "weir.yaml"
        file.write_text(json.dumps(configuration))
        requests = [random_configuration.request(generator, number) for number in range(REQUESTS)]
        pairs = [(request, explained(file, request)) for request in requests]
        if any(result.returncode == 2 for _, (result, _) in pairs):
            self.assertRegex(pairs[0][1][0].stderr, r"weir\.yaml:\d+:\d+: ")
            return False
        weir = Weir(configuration)
        try:
            responses = [answered(weir, request) for request in requests]
        finally:
            weir.stop()
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual(len(lines), len(requests))
        used = set()
        for (request, (_, explanation)), response, line in zip(pairs, responses, lines):
            with self.subTest(request=request, configuration=configuration,
                              explanation=explanation, line=line):
                self.compare(configuration, explanation, response, line, used)
        return True

    def directory(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-explain-")
        self.addCleanup(directory.cleanup)
        return directory.name

    def compare(self, configuration, explanation, response, line, used):
        verdict = explanation["verdict"]
        limits = [limit for limit in explanation["limits"] if limit["applies"]]
        keys = {key_of(limit) for limit in limits}
        is_fresh = not keys & used
        used |= keys
        self.assertEqual(line.get("route"), explanation["route"])
        self.compare_fields(configuration, limits, response, is_fresh)
        if not is_fresh:  # explain assumes that nothing is used yet
            return
        self.seen[verdict["outcome"]] = self.seen.get(verdict["outcome"], 0) + 1
        self.assertEqual(response.status, 200 if verdict["status"] is None else verdict["status"])
        decision = line.get("decision")
        if verdict["outcome"] == "refused":
            self.assertIn(decision, (None, "error"))
            if response.body:
                self.assertEqual(response.json()["detail"], verdict["detail"])
        else:
            self.assertEqual(decision, verdict["outcome"] if limits else None)
        retry_after = response["Retry-After"]
        if any(limit["algorithm"] in BY_THE_CLOCK for limit in limits):
            self.assertEqual(retry_after is None, verdict["retry_after"] is None)
        else:
            self.assertEqual(retry_after and int(retry_after), verdict["retry_after"])
        self.compare_deciding(limits, line)

    def compare_deciding(self, limits, line):
        if line["policy"] is None:
            return
        deciding = [(limit["cost"], limit["remaining"]) for limit in limits
                    if key_of(limit) == (line["policy"], line["identity"])]
        # A limit that holds logs what was charged in the end.
        cost = line["cost"] if line["reserved"] is None else line["reserved"]
        self.assertIn((cost, line["remaining"]), deciding)

    def compare_fields(self, configuration, limits, response, is_fresh):
        policies = configuration["policies"]
        shown = [limit for limit in limits
                 if policies[limit["policy"]].get("headers", True) and not limit["shadow"]]
        quotas = {m["name"]: m for m in ITEM.finditer(response["RateLimit-Policy"] or "")}
        state = {m["name"]: m for m in ITEM.finditer(response["RateLimit"] or "")}
        self.assertEqual(set(quotas), {limit["policy"] for limit in shown})
        self.assertEqual(set(state), set(quotas))
        for name, quota in quotas.items():
            # A policy that is applied to several keys is listed once.
            of_policy = [limit for limit in shown
                         if limit["policy"] == name and partition(limit["identity"]) == quota["pk"]]
            self.assertTrue(of_policy, f"{name} is listed with another key")
            self.assertEqual(int(quota["q"]), of_policy[0]["numbers"]["limit"])
            window = of_policy[0]["numbers"].get("window")
            self.assertEqual(quota["w"], window and str(max(1, math.ceil(window))))
            if is_fresh:
                self.assertIn(int(state[name]["r"]), [limit["remaining"] for limit in of_policy])
        if not shown or not is_fresh:
            return
        triple = [int(response[f"RateLimit-{part}"]) for part in ("Limit", "Remaining", "Reset")]
        found = [(limit["numbers"]["limit"], limit["remaining"]) for limit in shown]
        self.assertIn(tuple(triple[:2]), found)
        if not any(limit["algorithm"] in BY_THE_CLOCK for limit in shown):
            self.assertIn(triple[2], [math.ceil(limit["reset_after"]) for limit in shown])
