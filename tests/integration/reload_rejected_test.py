"""Rejected reloads: every problem is reported, the running configuration stays, and nothing is left behind."""

import json
import os
import re
import socket
import tempfile
from pathlib import Path

from harness.case import configuration
from harness.reload_case import ReloadCase
from harness.services import free_port
from harness.weir import run


def fixed(body, **sections):
    return configuration(routes=[{"respond": {"body": body}}], **sections)


class EveryProblem(ReloadCase):
    """A rejected reload names all that is wrong outside the text of the file, and leaves nothing behind."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-rejected-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.taken = [self.upstream().port for _ in range(3)]

    def broken(self):
        """A configuration with new listeners that can be opened, and four problems."""
        free = {"address": f"127.0.0.1:{free_port()}"}
        unix = {"address": f"unix:{self.directory}/weir.sock"}
        taken = [{"address": f"127.0.0.1:{port}"} for port in self.taken]
        self.free_port = int(free["address"].rpartition(":")[2])
        return fixed("new", listen=[{"address": "127.0.0.1:0"}, taken[0], free, unix, taken[1]],
                     access_log={"path": str(self.directory / "no/such/directory")},
                     admin={"address": f"127.0.0.1:{self.taken[2]}"})

    PATHS = ["access_log.path", "listen[1].address", "listen[4].address", "admin.address"]

    def assert_nothing_was_left(self, descriptors):
        self.assertEqual(list(self.directory.iterdir()), [])
        with socket.socket() as probe:
            self.assertNotEqual(probe.connect_ex(("127.0.0.1", self.free_port)), 0)
        if descriptors:
            self.assertEqual(len(os.listdir(f"/proc/{self.weir.pid}/fd")), descriptors)

    def test_all_problems_are_reported_with_their_positions(self):
        self.serve(fixed("old"))
        client = self.connect(self.weir)
        client.get("/")
        with self.connect_admin(self.weir) as admin:
            admin.get("/healthz")
            self.weir.write(self.broken())
            descriptors = len(os.listdir(f"/proc/{self.weir.pid}/fd"))
            problems = self.assert_problem(admin.request("POST", "/v1/reload"), 422)["problems"]
            self.assertEqual(sorted(p["path"] for p in problems), sorted(self.PATHS))
            lines = self.weir.file.read_text().splitlines()
            for problem in problems:
                line = lines[problem["line"] - 1]
                self.assertIn(problem["path"].rpartition(".")[2], line)
                self.assertEqual(line[problem["column"] - 1], '"')
                self.assertNotIn(problem["path"], problem["message"])
                self.assertIn(f"error POST /v1/reload: {self.weir.file}:{problem['line']}:{problem['column']}: "
                              f"{problem['path']}: {problem['message']}\n", self.weir.stderr)
            self.assert_nothing_was_left(descriptors)
        self.assertEqual(client.get("/").body, b"old")

    def test_sighup_logs_all_of_them(self):
        self.serve(fixed("old"))
        self.weir.write(self.broken())
        self.hang_up("failed")
        for path in self.PATHS:
            self.assertRegex(self.weir.stderr, rf"error SIGHUP: \S+:\d+:\d+: {re.escape(path)}: ")
        self.assert_nothing_was_left(None)

    def test_the_start_reports_all_of_them_too(self):
        file = self.directory.parent / f"{self.directory.name}.yaml"
        self.addCleanup(file.unlink)
        file.write_text(json.dumps(self.broken(), indent=1))
        done = run("serve", "--config", str(file))
        self.assertEqual(done.returncode, 1)
        for path in self.PATHS:
            self.assertRegex(done.stderr, rf"error {re.escape(str(file))}:\d+:\d+: {re.escape(path)}: ")
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_an_overlap_of_names_within_the_configuration_is_a_problem(self):
        self.serve(fixed("old"))
        port = self.weir.admin_address[1]
        self.weir.write(fixed("new", listen=[{"address": "127.0.0.1:0"}, {"address": f"localhost:{port}"}],
                              admin={"address": f"127.0.0.1:{port}"}))
        problems = self.reload_fails()
        self.assertIn("in use", problems[-1]["message"])
        self.assertEqual(self.connect(self.weir).get("/").body, b"old")
