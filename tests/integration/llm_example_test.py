"""The example of docker/llm: its compose file, and its model and its configuration as processes, its commands with
curl."""

import json
import os
import re
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.case import Case
from harness.compose import ComposeChecks
from harness.weir import Weir

EXAMPLE = Path(__file__).resolve().parents[2] / "docker" / "llm"
STREAM = {"stream": True, "stream_options": {"include_usage": True}}


class Compose(ComposeChecks, unittest.TestCase):
    EXAMPLE = EXAMPLE
    SERVICE = "model"


class Example(Case):
    def setUp(self):
        self.model = subprocess.Popen(["node", EXAMPLE / "model.js"], stdout=subprocess.PIPE, text=True,
                                      env={**os.environ, "PORT": "0", "TOKEN_MS": "1"})
        self.addCleanup(self.stop_model)
        port = re.search(r"port (\d+)", self.model.stdout.readline())[1]
        weir = Weir((EXAMPLE / "weir.yaml").read_text() + "admin: off\n",
                    environment={"LISTEN": "127.0.0.1:0", "MODEL_URL": f"http://127.0.0.1:{port}"})
        self.addCleanup(weir.stop)
        self.url = f"http://127.0.0.1:{weir.port}/v1/chat/completions"
        self.model_url = f"http://127.0.0.1:{port}/v1/chat/completions"

    def stop_model(self):
        self.model.terminate()
        self.model.wait()
        self.model.stdout.close()

    def ask(self, key, url=None, **request):
        """The status, the tokens that are left, and the body."""
        request.setdefault("messages", [{"role": "user", "content": "count for me"}])
        out = subprocess.run(
            ["curl", "-s", "-i", "-H", f"Authorization: Bearer {key}", "-H", "Content-Type: application/json",
             url or self.url, "-d", json.dumps(request)], check=True, capture_output=True, text=True).stdout
        head, _, body = out.partition("\n\n")
        left = re.search(r'^RateLimit:.*"tokens";r=(\d+)', head, re.M)
        return int(head.split()[1]), int(left[1]) if left else None, body

    def left(self, key):
        """The tokens that are left beside one."""
        return self.ask(key, max_tokens=1, messages=[])[1]

    def test_a_response_costs_its_tokens(self):
        status, left, body = self.ask("alice", max_tokens=40)
        self.assertEqual((status, left, json.loads(body)["usage"]["total_tokens"]), (200, 460, 43))
        self.assertEqual(self.left("alice"), 500 - 43 - 1)
        self.assertEqual(self.left("bob"), 499)

    def test_a_stream_costs_what_its_last_event_states_and_is_not_changed(self):
        status, _, body = self.ask("carol", max_tokens=30, **STREAM)
        self.assertEqual(status, 200)
        self.assertEqual(body, self.ask("carol", url=self.model_url, max_tokens=30, **STREAM)[2])
        self.assertTrue(body.endswith("data: [DONE]\n\n"))
        self.assertEqual(self.left("carol"), 500 - 33 - 1)

    def test_a_stream_without_usage_costs_what_was_reserved(self):
        self.ask("dave", max_tokens=30, stream=True)
        self.assertEqual(self.left("dave"), 500 - 30 - 1)

    def test_an_error_of_the_model_costs_nothing(self):
        self.assertEqual(self.ask("erin", messages="none")[0], 400)
        self.assertEqual(self.left("erin"), 499)

    def test_requests_at_the_same_time_do_not_pass_the_budget(self):
        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(lambda _: self.ask("frank", max_tokens=97, **STREAM), range(20)))
        self.assertEqual(sorted(status for status, _, _ in answers), [200] * 5 + [429] * 15)
        self.assertEqual(self.ask("frank", max_tokens=1)[0], 429)

    def test_a_key_is_required(self):
        out = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", self.url, "-d", "{}"],
                             check=True, capture_output=True, text=True).stdout
        self.assertEqual(out, "401")
