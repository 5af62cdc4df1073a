"""Reloads without memory: a worker that keeps its configuration verifies with the current keys."""

import json
import os
import tempfile

from harness.key_url_case import UrlCase
from harness.scarce import ScarceMemory


class NoMemory(UrlCase):
    def setUp(self):
        self.memory = ScarceMemory()
        self.addCleanup(self.memory.close)

    def fail_to_reload(self, config):
        """The workers keep the configuration they have."""
        config["upstreams"] = {"other": {
            "servers": [{"url": f"http://127.0.1.{i}:8080"} for i in range(200)]}}
        self.write(config)
        with self.memory.at_most(1_024, threads="others"):
            messages = [problem["message"] for problem in self.reload_fails()]
        self.assertEqual(sorted(messages), [
            f"worker {i} keeps its configuration: std::bad_alloc; reload again" for i in range(2)])

    def test_a_worker_that_keeps_its_configuration_gets_the_next_keys(self):
        server = self.key_server("a", "b")
        jwks = {"url": server.url, "refresh": "1d", "cooldown": "1s"}
        self.serve(self.configuration(idp=jwks), environment=self.memory.environment)
        self.await_status("a", 200)
        for kids, removed in [("bc", "a"), ("cx", "b")]:  # also after a second reload that fails
            self.fail_to_reload(self.configuration(idp=jwks))
            server.keys = [self.key[kid] for kid in kids]
            self.await_status(kids[1], 200)
            self.await_status(removed, 401)


    def write_keys(self, path, *kids):
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump({"keys": [self.key[kid] for kid in kids]}, file)
        os.replace(path + ".new", path)

    def test_it_gets_the_next_keys_of_a_file_too(self):
        with tempfile.TemporaryDirectory(prefix="weir-keys-") as directory:
            path = os.path.join(directory, "keys.json")
            self.write_keys(path, "a")
            self.serve(self.configuration(idp={"file": path}), environment=self.memory.environment)
            self.await_status("a", 200)
            self.fail_to_reload(self.configuration(idp={"file": path}))
            self.write_keys(path, "b")
            self.await_status("b", 200)
            self.write_keys(path, "c")
            self.fail_to_reload(self.configuration(idp={"file": path}))
            self.assertEqual([self.status(kid) for kid in "abc" * 4], [401, 401, 200] * 4)
