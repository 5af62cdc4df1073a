"""`weir check` finds what `weir serve` would refuse, and opens nothing for others to see."""

import os
import resource
import socket
import subprocess
import tempfile
from pathlib import Path

from harness.case import Case
from harness.services import free_port
from harness.weir import Weir, binary, run

ROUTE = "routes: [{respond: {}}]\n"


class StartCase(Case):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-check-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def file(self, text):
        path = self.directory / "weir.yaml"
        path.write_text(text + ROUTE)
        return str(path)

    def check(self, text, **options):
        return run("check", self.file(text), **options)

    def assert_refused_by_both(self, text, place, message):
        """The same message from check and from serve, and nothing left behind."""
        checked = self.check(text)
        left = sorted(path.name for path in self.directory.iterdir())
        self.assertEqual(checked.returncode, 2, checked)
        line = f"{self.directory}/weir.yaml:{place}: {message}\n"
        self.assertEqual(checked.stdout, line)
        served = run("serve", self.file(text))
        self.assertEqual(served.returncode, 1, served)
        self.assertIn(line, served.stderr)
        return left


def quiet(address="127.0.0.1:0", log="off"):
    return f"listen: [{{address: \"{address}\"}}]\nadmin: off\naccess_log: {{path: \"{log}\"}}\n"


class Files(StartCase):
    def test_a_log_in_a_folder_that_does_not_exist(self):
        log = self.directory / "logs" / "access.log"
        left = self.assert_refused_by_both(
            quiet(log=log), "3:20", f'access_log.path: cannot open log file "{log}" for appending: '
            f'No such file or directory; create the folder "{log.parent}" first')
        self.assertEqual(left, ["weir.yaml"])

    def test_a_log_that_is_a_folder_or_within_a_file(self):
        self.assert_refused_by_both(
            quiet(log=self.directory), "3:20",
            f'access_log.path: cannot open log file "{self.directory}" for appending: Is a directory; '
            "it is a folder: write the name of a file in it")
        log = self.directory / "weir.yaml" / "access.log"
        self.assert_refused_by_both(
            quiet(log=log), "3:20", f'access_log.path: cannot open log file "{log}" for appending: Not '
            f'a directory; "{log.parent}" is not a folder')

    def test_a_log_that_can_be_opened_is_not_created(self):
        for log in (self.directory / "access.log", "-", "off", "/dev/null", "relative.log"):
            with self.subTest(log=log):
                checked = self.check(quiet(log=log))
                self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked)
        self.assertEqual([path.name for path in self.directory.iterdir()], ["weir.yaml"])

    def test_the_reader_of_a_pipe_does_not_see_its_end(self):
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
            self.assertEqual(self.check(quiet(log=pipe)).returncode, 0)
            self.assertIsNone(reader.poll())
            with open(pipe, "wb") as end:
                end.write(b"still read")
            self.assertEqual(reader.stdout.read(), b"still read")

    def test_a_socket_in_a_folder_that_does_not_exist(self):
        path = self.directory / "run" / "weir.sock"
        self.assert_refused_by_both(
            quiet(f"unix:{path}"), "1:20", f"listen[0].address: cannot listen on unix:{path}: No such file "
            f'or directory; create the folder "{path.parent}" first')

    def test_a_socket_whose_path_another_file_has(self):
        path = self.directory / "notes.txt"
        path.write_text("kept")
        self.assert_refused_by_both(
            quiet(f"unix:{path}"), "1:20", f"listen[0].address: cannot listen on unix:{path}: Address "
            "already in use; the file is not a socket: remove it or choose another path")
        self.assertEqual(path.read_text(), "kept")

    def test_a_socket_that_a_killed_process_left_is_no_problem_and_stays(self):
        path = self.directory / "weir.sock"
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(path))
        checked = self.check(quiet(f"unix:{path}"))
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked)
        self.assertTrue(path.is_socket())

    def test_a_variable_is_not_shown(self):
        text = ('listen: [{address: "unix:${SECRET}/weir.sock"}]\nadmin: off\n'
                'access_log: {path: "${SECRET}/access.log"}\n')
        checked = self.check(text, env={**os.environ, "SECRET": "/no-such-secret"})
        self.assertEqual(checked.returncode, 2)
        self.assertEqual(len(checked.stdout.splitlines()), 2, checked.stdout)
        self.assertIn("${SECRET}/access.log", checked.stdout)
        self.assertNotIn("no-such-secret", checked.stdout + checked.stderr)


class Addresses(StartCase):
    def test_two_names_of_one_address(self):
        port = free_port()
        text = (f'listen: [{{address: "127.0.0.1:{port}"}}, {{address: "localhost:{port}"}}]\n'
                "admin: off\naccess_log: off\n")
        place = text.index('"localhost') + 1
        self.assert_refused_by_both(
            text, f"1:{place}", f"listen[1].address: cannot listen on localhost:{port}: Address already in "
            "use; another process or listener has it: stop that one or choose another address")

    def test_the_admin_address_is_that_of_a_listener_by_another_name(self):
        port = free_port()
        text = (f'listen: [{{address: "127.0.0.1:{port}"}}]\nadmin: {{address: "localhost:{port}"}}\n'
                "access_log: off\n")
        checked = self.check(text)
        self.assertEqual(checked.returncode, 2, checked)
        self.assertIn("2:18: admin.address: cannot listen on", checked.stdout)
        self.assertIn("or write `admin: off`", checked.stdout)

    def test_an_address_that_this_machine_does_not_have(self):
        self.assert_refused_by_both(
            quiet("203.0.113.1:0"), "1:20", "listen[0].address: cannot listen on 203.0.113.1:0: Cannot "
            "assign requested address; no network interface of this machine has it: use 0.0.0.0 for all "
            "of them")

    def test_a_name_without_an_address(self):
        checked = self.check(quiet("no-such-name.invalid:8080"))
        self.assertEqual(checked.returncode, 2)
        self.assertRegex(checked.stdout, r"1:20: listen\[0\]\.address: cannot listen on "
                         r"no-such-name\.invalid:8080: .*; write an IP address of this machine, or "
                         r"0\.0\.0\.0 for all of them\n$")

    def test_an_address_in_use_is_a_warning_because_it_may_be_the_one_to_reload(self):
        path = self.directory / "weir.sock"
        weir = Weir({"listen": [{"address": "127.0.0.1:0"}, {"address": f"unix:{path}"}], "admin": "off",
                     "access_log": "off", "routes": [{"respond": {}}]})
        self.addCleanup(weir.stop)
        for address in (f"127.0.0.1:{weir.port}", f"unix:{path}"):
            with self.subTest(address=address):
                checked = self.check(quiet(address))
                self.assertEqual(checked.returncode, 0, checked)
                self.assertIn(f"1:20: warning: listen[0].address: cannot listen on {address}: Address "
                              "already in use", checked.stderr)
                self.assertIn("nothing to do if it is the Weir that will be reloaded", checked.stderr)
        self.assertEqual(self.connect(weir).get("/").status, 200)
        self.assertTrue(path.is_socket())


class Descriptors(StartCase):
    def test_too_few_open_files(self):
        ended = subprocess.run(
            [binary(), "check", self.file(quiet())], capture_output=True, text=True, timeout=60,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)), check=False)
        self.assertEqual(ended.returncode, 2, ended)
        self.assertIn("the process may have 100 open files, and needs at least ", ended.stdout)
