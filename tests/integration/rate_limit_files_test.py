"""The files of the rate limit service: their limits are policies, and a change reloads them."""

import os
import tempfile
from pathlib import Path

from harness.case import configuration
from harness.exposition import labelled
from harness.limit_fields import limit_fields
from harness.preload import fast_clock
from harness.reload_case import ReloadCase
from harness.waiting import eventually
from harness.weir import Weir, run


def limits(count, domain="edge"):
    return (f"domain: {domain}\n"
            f"descriptors: [{{key: user, rate_limit: {{unit: hour, requests_per_unit: {count}}}}}]\n")


class FileCase(ReloadCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-limit-files-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.file = self.directory / "edge.yaml"
        self.file.write_text(limits(5))


class Reload(FileCase):
    def begin(self):
        """The files are checked every tenth of a second. A route uses the limit, so that it shows."""
        config = configuration(
            rate_limit_service={"listen": [{"address": "127.0.0.1:0"}],
                                "files": [str(self.directory / "*.yaml")]},
            routes=[{"respond": {"status": 200}, "limits": [{"policy": "edge.user", "key": "client"}]}])
        self.client = self.connect(self.serve(config, environment=fast_clock(10)))

    def file_reloads(self, result):
        return labelled(self.scrape(), "weir_file_reloads_total", kind="limit_file", result=result)

    def has_other(self):
        return any(name == "weir_decisions_total" and ("policy", "other.user") in labels
                   for name, labels in self.scrape())

    def quota(self):
        return limit_fields(self.client.request("GET", "/")).policies["edge.user"]["q"]

    def test_a_file_that_changes_reloads_the_configuration(self):
        self.begin()
        self.assertEqual(self.quota(), 5)
        self.file.write_text(limits(7))
        eventually(lambda: self.quota() == 7, "the changed limit counts")
        eventually(lambda: "rate_limit_service.files: " in self.weir.stderr, "the reload is logged")
        self.file.write_text(limits(8))
        eventually(lambda: self.quota() == 8, "the file counts that is changed again")
        eventually(lambda: self.file_reloads("ok") == 2, "both reloads are counted")

    def test_a_file_that_is_added_or_removed_reloads_the_configuration(self):
        self.begin()
        self.assertFalse(self.has_other())
        other = self.directory / "other.yaml"
        other.write_text("domain: other\n- a\n")
        eventually(lambda: self.file_reloads("failed") == 1, "a wrong file is added")
        other.write_text(limits(1, "other"))
        eventually(self.has_other, "the corrected file counts")
        other.unlink()
        eventually(lambda: not self.has_other(), "the limits of the removed file end")
        eventually(lambda: self.file_reloads("ok") == 2, "the correction and the removal are counted")

    def test_a_wrong_file_keeps_the_configuration(self):
        self.begin()
        self.file.write_text("domain: edge\ndescriptors: [{kay: user}]\n")
        place = f'file "{self.file}" line 2, column 16: descriptors[0].kay: unknown key "kay"'
        eventually(lambda: place in self.weir.stderr, "the problem is logged")
        self.assertEqual(self.quota(), 5)
        self.assertEqual(self.reload_fails()[0]["path"], "rate_limit_service.files[0]")
        self.file.write_text(limits(6))
        eventually(lambda: self.quota() == 6, "the corrected limit counts")


class Import(FileCase):
    def test_what_import_prints_is_a_configuration(self):
        printed = run("import", "envoy-ratelimit", str(self.directory))
        self.assertEqual((printed.returncode, printed.stderr), (0, ""))
        made = self.directory / "weir.conf"
        made.write_text(printed.stdout)
        checked = run("check", str(made))
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)

    def test_a_limit_that_is_left_out_ends_with_1(self):
        other = self.directory / "other.yaml"
        other.write_text("domain: other\ndescriptors: [{key: a, value: b*, rate_limit: {unlimited: true}}]\n")
        printed = run("import", "envoy-ratelimit", str(self.directory))
        self.assertEqual(printed.returncode, 1)
        self.assertIn("policies:\n", printed.stdout)
        self.assertIn("# other.a_b*: not written: unlimited", printed.stdout)
        self.assertEqual(printed.stderr.splitlines(), [
            f'{other}:2:15: descriptors[0]: the limit "other.a_b*" is not written: unlimited: '
            "a descriptor without a policy has no limit",
            "weir import: 1 limit is not written; rate_limit_service.files reads all limits"])

    def test_bad_files_end_with_2(self):
        wrong = self.directory / "wrong.yaml"
        wrong.write_text("domain: edge\ndescriptors: [{kay: user}]\n")
        double = self.directory / "z.yaml"
        double.write_text(limits(1))
        printed = run("import", "envoy-ratelimit", str(self.directory), str(self.directory / "none"))
        self.assertEqual((printed.returncode, printed.stdout), (2, ""))
        self.assertIn(f'{wrong}:2:16: descriptors[0].kay: unknown key "kay"', printed.stderr)
        self.assertIn(f'{double}: the domain "edge" is already that of file "{self.file}"', printed.stderr)
        self.assertIn("cannot read file", printed.stderr)


class Environment(FileCase):
    def test_the_environment_of_envoyproxy_ratelimit_is_a_configuration(self):
        weir = Weir(command=["serve", "--ratelimit-env"],
                    environment={"RUNTIME_ROOT": str(self.directory.parent),
                                 "RUNTIME_APPDIRECTORY": self.directory.name, "LOG_LEVEL": "debug",
                                 "GRPC_HOST": "127.0.0.1", "GRPC_PORT": "0", "DEBUG_PORT": "0",
                                 "HOST": "127.0.0.1", "PORT": "0"})
        self.addCleanup(weir.stop)
        eventually(lambda: weir.stderr.count("listening on http://127.0.0.1:") == 2, "both addresses are served")
        self.assertIn("weir serve: warning: LOG_LEVEL: has no effect: ", weir.stderr)

    def test_what_is_wrong_has_the_name_of_its_variable(self):
        ended = run("serve", "--ratelimit-env", env={**os.environ, "RUNTIME_ROOT": "/nonexistent"})
        self.assertEqual(ended.returncode, 2)
        self.assertIn('weir serve: RUNTIME_ROOT: there is no directory "/nonexistent/config"', ended.stderr)
