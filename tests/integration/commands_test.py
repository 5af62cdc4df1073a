"""Short forms of commands, and what they print about a file that is not there."""

import os
import tempfile
from pathlib import Path

from harness.case import Case
from harness.weir import Weir, run


class Commands(Case):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-commands-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def test_serve_takes_the_file_as_its_argument(self):
        file = str(self.directory / "weir.yaml")
        Path(file).write_text(
            'listen: [{address: "127.0.0.1:0"}]\nadmin: off\naccess_log: off\nroutes: [{respond: {}}]\n')
        weir = Weir(command=["serve", file])
        self.addCleanup(weir.stop)
        self.assertEqual(self.connect(weir).get("/").status, 200)
        both = run("serve", file, "--config", file)
        self.assertEqual(both.returncode, 2, both)
        self.assertIn("--config excludes FILE", both.stderr)

    def test_help_is_a_command(self):
        for words in ([], ["serve"], ["limits"], ["limits", "override"], ["hash"]):
            with self.subTest(words=words):
                shown = run("help", *words)
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                self.assertEqual(shown.stdout, run(*words, "--help").stdout)
        self.assertIn("help", run("help").stdout)
        unknown = run("help", "nonsense")
        self.assertEqual((unknown.returncode, unknown.stdout), (2, ""))
        self.assertIn('unknown command "nonsense"', unknown.stderr)

    def test_each_command_is_in_the_table_of_the_manual(self):
        manual = (Path(__file__).resolve().parents[2] / "docs/operations.md").read_text()
        listed = run("--help").stdout.split("Subcommands:\n")[1].split("\n\n")[0]
        commands = [line.split()[0] for line in listed.splitlines()]
        self.assertIn("top", commands)
        self.assertEqual([name for name in commands if f"\n| `weir {name}" not in manual], [])

    def test_a_file_that_is_not_there_is_named_once_with_what_to_do(self):
        for command in (["check"], ["serve"], ["serve", "--config"], ["explain", "http://a/", "--config"],
                        ["hash", "--identity", "client", "192.0.2.7", "--config"]):
            with self.subTest(command=command):
                ended = run(*command, "/no-such-folder/weir.yaml")
                self.assertEqual(ended.returncode, 2)
                self.assertEqual(ended.stdout + ended.stderr,
                                 "/no-such-folder/weir.yaml: cannot read the file: No such file or directory; "
                                 "check the path, and in a container that the file is mounted\n")
        if os.path.exists("/etc/weir/weir.yaml"):
            self.fail("this machine has a configuration at the default place; run the tests without it")
        self.assertEqual(run("serve").stderr,
                         "/etc/weir/weir.yaml: cannot read the file: No such file or directory; check the path, "
                         "and in a container that the file is mounted; name another one with --config FILE, "
                         "or mount yours as in `docker run -v ./weir.yaml:/etc/weir/weir.yaml:ro`\n")
        self.assertEqual(run("check", str(self.directory)).stdout,
                         f"{self.directory}: cannot read the file: it is a directory; if a container mounts it, "
                         "the file on the host does not exist: Docker makes a directory then\n")
