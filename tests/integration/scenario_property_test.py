"""`weir test` and a running Weir agree about random configurations and histories of requests.

WEIR_TEST_SCENARIOS is the number of configurations, WEIR_TEST_SEED where to begin.
"""

import json
import os
import random
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from harness import random_configuration
from harness.case import Case, scaled
from harness.client import Connection, request_bytes
from harness.upstream import answer
from harness.weir import Weir, run

CONFIGURATIONS = int(os.environ.get("WEIR_TEST_SCENARIOS", "60"))
SEED = int(os.environ.get("WEIR_TEST_SEED", "1"))
REQUESTS = 20  # of each configuration
CLIENTS = 3


def slow(policy):
    """The same policy with a rate that gives nothing back while the test runs, and no delays."""
    if policy["algorithm"] == "leaky_bucket":
        policy = {**policy, "queue": 0}
    if "rates" in policy:
        policy = {**policy, "rates": ["3/1h", "5/1d"]}
    if "rate" in policy:
        count = int(policy["rate"].split("/")[0])
        policy = {**policy, "rate": f"{min(count, 10)}/1h"}
    return policy


def answered(weir, request):
    with Connection(weir.address, source=request.peer) as connection:
        connection.send(request_bytes(request.method, request.target, request.fields,
                                      request.body or None, host=request.host))
        return connection.read(request.method)


def instant(line):
    return datetime.fromisoformat(line["time"].replace("Z", "+00:00")).astimezone(timezone.utc)


def fields_of(request):
    fields = {}
    for name, value in request.fields:
        fields.setdefault(name, []).append(value)
    return fields


def step(request, response, line, start):
    """The request, with what a running Weir did with it."""
    sent = {"method": request.method, "url": f"http://{request.host}{request.target}", "peer": request.peer,
            "headers": fields_of(request)}
    if request.body:
        sent["body"] = request.body.decode("latin-1")
    expect = {"status": response.status, "decision": line["decision"] or "none", "policy": line["policy"] or "none",
              "route": line["route"] or "none"}
    if line["policy"] and line["remaining"] is not None:
        expect["remaining"] = line["remaining"]
    micros = (instant(line) - start) // (instant(line) - start).resolution if instant(line) > start else 0
    return {"at": f"{micros}us", "request": sent, "expect": expect}


class Agreement(Case):
    def test_a_scenario_decides_as_a_running_weir(self):
        service = self.upstream(answer(b"served"))
        self.seen = {}  # decisions, so that a change of the generator cannot make the test empty
        for number in range(SEED, SEED + scaled(CONFIGURATIONS)):
            with self.subTest(seed=number):
                self.check_configuration(random.Random(number), service.url)
        if CONFIGURATIONS >= 60 and scaled(2) == 2:
            for decision in ("allowed", "denied", "shadow_denied", "error", None):
                self.assertGreater(self.seen.get(decision, 0), 20, self.seen)

    def check_configuration(self, generator, upstream):
        directory = tempfile.TemporaryDirectory(prefix="weir-scenario-")
        self.addCleanup(directory.cleanup)
        log = Path(directory.name) / "access.log"
        configuration = random_configuration.configuration(generator, upstream, log)
        configuration["policies"] = {name: slow(policy) for name, policy in configuration["policies"].items()}
        (Path(directory.name) / "weir.yaml").write_text(json.dumps(configuration))
        if run("check", "weir.yaml", cwd=directory.name).returncode != 0:
            return
        requests = [random_configuration.request(generator, generator.randrange(CLIENTS)) for _ in range(REQUESTS)]
        weir = Weir(configuration)
        try:
            responses = [answered(weir, request) for request in requests]
        finally:
            weir.stop()
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        self.assertEqual(len(lines), len(requests))
        for line in lines:
            self.seen[line["decision"]] = self.seen.get(line["decision"], 0) + 1
        start = instant(lines[0])
        scenario = {"config": "weir.yaml", "start": start.isoformat().replace("+00:00", "Z"),
                    "steps": [step(*one, start) for one in zip(requests, responses, lines)]}
        (Path(directory.name) / "limits.yaml").write_text(json.dumps(scenario, indent=1))
        result = run("test", "limits.yaml", cwd=directory.name)
        self.assertEqual((result.returncode, result.stderr), (0, ""),
                         result.stdout + json.dumps(configuration, indent=1))
