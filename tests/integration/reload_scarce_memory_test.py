"""Reloads without memory: the running configuration stays, and a later reload applies."""

import signal

from harness.case import configuration
from harness.reload_case import ReloadCase, copied
from harness.scarce import ScarceMemory
from harness.services import free_port, is_listening
from harness.upstream import answer
from harness.waiting import eventually


class NoMemory(ReloadCase):
    def setUp(self):
        self.memory = ScarceMemory()
        self.addCleanup(self.memory.close)
        up = self.upstream(answer(b"fine"))
        config = configuration(up.url, workers=2)
        self.serve(config, environment=self.memory.environment)
        self.client = self.connect(self.weir)
        self.assertEqual(self.client.get("/").body, b"fine")
        self.added = ("127.0.0.1", free_port())
        self.next = copied(config)
        self.next["listen"].append({"address": "%s:%d" % self.added})
        self.next["upstreams"]["other"] = {
            "servers": [{"url": f"http://127.0.1.{i}:{up.port}"} for i in range(200)]}
        self.next["routes"] = [{"respond": {"body": "new"}, "match": {"path": f"/{i}"}}
                               for i in range(100)] + [{"respond": {"body": "new"}}]

    def hang_up_without_memory(self, failures=1):
        self.weir.signal(signal.SIGHUP)
        eventually(lambda: self.weir.stderr.count("std::bad_alloc") >= failures,
                   "the end of the reload")

    def assert_applies(self):
        self.reload(self.next)
        self.assertEqual(self.client.get("/").body, b"new")
        for _ in range(8):  # every worker listens
            with self.connect_to(self.added) as client:
                self.assertEqual(client.get("/").body, b"new")

    def test_the_server_has_none(self):
        self.write(self.next)
        with self.memory.at_most(2_000):
            self.hang_up_without_memory()
        self.assertIn("error SIGHUP: ", self.weir.stderr)
        self.assertIn("std::bad_alloc", self.weir.stderr)
        self.assertEqual(self.client.get("/").body, b"fine")
        eventually(lambda: self.reloads("failed") == 1, "the reload is counted")
        self.assert_applies()

    def test_the_workers_have_none(self):
        self.write(self.next)
        with self.memory.at_most(1_024, threads="others"):
            self.hang_up_without_memory(failures=2)
        self.assertIn("worker 0 keeps its configuration: std::bad_alloc; reload again", self.weir.stderr)
        self.assertIn("worker 1 keeps its configuration: std::bad_alloc; reload again", self.weir.stderr)
        with self.connect_to(self.added) as client:  # its sockets listen already
            self.assertEqual(client.get("/").body, b"fine")
        self.assertEqual(self.client.get("/").body, b"fine")
        eventually(lambda: self.reloads("failed") == 1, "the reload is counted")
        self.assert_applies()

    def test_a_new_listener_that_a_later_reload_does_not_have(self):
        without = copied(self.next)
        without["listen"].pop()
        self.write(self.next)
        with self.memory.at_most(1_024, threads="others"):
            self.hang_up_without_memory(failures=2)
        with self.connect_to(self.added) as client:
            self.assertEqual(client.get("/").body, b"fine")
            self.reload(without)
            self.assertTrue(client.is_ended())
        eventually(lambda: not is_listening(self.added), "nobody listens there any more")
        self.assertEqual(self.client.get("/").body, b"new")

    def test_the_answer_of_a_post_names_the_workers(self):
        self.write(self.next)
        with self.memory.at_most(1_024, threads="others"):
            problems = self.reload_fails()
        self.assertEqual(sorted(problem["message"] for problem in problems),
                         [f"worker {i} keeps its configuration: std::bad_alloc; reload again" for i in range(2)])
        self.assertEqual(self.client.get("/").body, b"fine")
        self.assert_applies()
