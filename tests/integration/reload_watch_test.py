"""`weir serve --watch`: a reload whenever the file, or a link on the way to it, changes."""

import errno
import json
import os
import re
import tempfile
from pathlib import Path

from harness.case import configuration
from harness.preload import preloaded
from harness.reload_case import ReloadCase, with_admin
from harness.waiting import eventually
from harness.weir import ADMIN as ADMIN_LINE
from harness.weir import host_and_port, run


def text(body):
    return json.dumps(with_admin(configuration(routes=[{"respond": {"body": body}}])))


class WatchCase(ReloadCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-watched-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.file = self.directory / "weir.yaml"

    def watch(self, file=None, **options):
        self.weir = self.start(None, command=["serve", "--watch", "--config",
                                              str(file or self.file)], **options)
        self.await_admin()
        self.client = self.connect(self.weir)

    def await_admin(self):
        found = eventually(lambda: ADMIN_LINE.search(self.weir.stderr), "the admin server")
        self.weir.admin_address = host_and_port(found[1])

    def await_answer(self, body):
        eventually(lambda: self.client.get("/").body == body.encode(), f"the answer {body}")

    def written(self, name, body):
        file = self.directory / name
        file.write_text(text(body))
        return file


class Watch(WatchCase):
    def test_a_file_that_is_written(self):
        self.file.write_text(text("one"))
        self.watch()
        for body in "two", "three":
            self.file.write_text(text(body))
            self.await_answer(body)
        eventually(lambda: "info --watch: configuration reloaded; changed: routes" in
                   self.weir.stderr, "the log speaks of it")

    def test_a_file_that_is_replaced(self):
        self.file.write_text(text("one"))
        self.watch()
        for body in "two", "three", "four":
            new = self.directory / "weir.yaml.new"
            new.write_text(text(body))
            new.rename(self.file)
            self.await_answer(body)
        self.file.unlink()
        os.link(self.written("hard-link", "five"), self.file)
        self.await_answer("five")

    def test_a_bad_file_changes_nothing_and_a_good_one_does_again(self):
        self.file.write_text(text("one"))
        self.watch()
        self.file.write_text("routes: [")
        eventually(lambda: self.reloads("failed") == 1, "it is refused")
        self.assertIn(f"error --watch: {self.file}:1:", self.weir.stderr)
        self.assertEqual(self.client.get("/").body, b"one")
        self.file.unlink()
        self.file.write_text(text("two"))
        self.await_answer("two")
        self.assertEqual(self.reloads("failed"), 1)

    def test_a_mounted_config_map(self):
        """..data is a link to the directory of a version, and is exchanged by a rename."""
        def version(number):
            directory = self.directory / f"..2026_{number}"
            directory.mkdir()
            (directory / "weir.yaml").write_text(text(f"version {number}"))
            link = self.directory / "..data_tmp"
            link.symlink_to(directory.name)
            link.rename(self.directory / "..data")

        version(1)
        self.file.symlink_to("..data/weir.yaml")
        self.watch()
        for number in range(2, 8):
            version(number)
            self.await_answer(f"version {number}")
            old = self.directory / f"..2026_{number - 1}"
            (old / "weir.yaml").unlink()
            old.rmdir()
        self.await_reloads(6)
        self.assertEqual(self.reloads("failed"), 0)

    def test_links_that_lead_over_several_directories(self):
        places = [self.directory / name for name in ("a", "b", "c")]
        for place in places:
            place.mkdir()
            (place / "weir.yaml").write_text(text(place.name))
        current = self.directory / "current"
        current.symlink_to(places[0])
        etc = self.directory / "etc"
        etc.mkdir()
        (etc / "weir.yaml").symlink_to("../current/weir.yaml")
        self.watch(etc / "weir.yaml")
        (places[0] / "weir.yaml").write_text(text("changed in place"))
        self.await_answer("changed in place")
        new = self.directory / "new"
        new.symlink_to(places[1])
        new.rename(current)
        self.await_answer("b")
        (places[1] / "weir.yaml").write_text(text("b again"))
        self.await_answer("b again")
        # What was on the way before counts no more.
        self.await_reloads(3)
        (places[0] / "weir.yaml").write_text(text("nobody reads this"))
        (etc / "weir.yaml").unlink()
        (etc / "weir.yaml").symlink_to(places[2] / "weir.yaml")
        self.await_answer("c")
        self.await_reloads(4)

    def test_a_directory_that_is_exchanged(self):
        etc = self.directory / "etc"
        etc.mkdir()
        (etc / "weir.yaml").write_text(text("one"))
        self.watch(etc / "weir.yaml")
        etc.rename(self.directory / "old")
        etc.mkdir()
        (etc / "weir.yaml").write_text(text("two"))
        self.await_answer("two")
        (etc / "weir.yaml").write_text(text("three"))
        self.await_answer("three")

    def test_other_files_beside_it_do_not_count(self):
        self.file.write_text(text("one"))
        self.watch()
        self.written("weir.yaml.swp", "never")
        self.written("other.yaml", "never")
        self.file.write_text(text("two"))
        self.await_answer("two")
        self.await_reloads(1)

    def test_changes_without_end_do_not_delay_a_reload_for_ever(self):
        self.file.write_text(text("one"))
        self.watch()

        def replaced():
            """Each event restarts the quiet time, which is longer than the pause between two."""
            self.written("weir.yaml.new", "two").rename(self.file)
            return self.client.get("/").body == b"two"

        eventually(replaced, "a reload while the file goes on changing")

    def test_a_file_that_is_missing_is_reported_once_and_counted_as_no_reload(self):
        self.file.write_text(text("one"))
        self.watch()
        missing = f"warning --watch: {self.file} is missing; the running configuration stays\n"
        for times, body in (1, "two"), (2, "three"):
            self.file.unlink()
            eventually(lambda: self.weir.stderr.count(missing) == times, "a warning")
            self.file.symlink_to("dangling")  # an event, and it is missing still
            self.file.unlink()
            self.assertEqual(self.reloads("failed"), 0)
            self.written("weir.yaml.new", body).rename(self.file)
            self.await_answer(body)
            self.assertEqual(self.weir.stderr.count(missing), times)
        self.await_reloads(2)
        self.assertEqual(self.reloads("failed"), 0)

    def test_without_watch_nothing_happens(self):
        self.file.write_text(text("one"))
        self.weir = self.start(None, command=["serve", "--config", str(self.file)])
        self.await_admin()
        self.client = self.connect(self.weir)
        self.file.write_text(text("two"))
        self.assertEqual(self.client.get("/").body, b"one")
        self.hang_up()
        self.assertEqual(self.client.get("/").body, b"two")


class NoWatches(WatchCase):
    """inotify_add_watch(2) fails."""

    def setUp(self):
        super().setUp()
        self.failure = self.directory / "failure"
        self.environment = preloaded("WEIR_SCARCE_WATCHES", SCARCE_WATCHES=self.failure)
        self.file.write_text(text("one"))

    def fail(self, error):
        new = self.directory / "failure.new"
        new.write_text(str(error))
        new.rename(self.failure)

    def test_the_start_reports_it(self):
        for error, why in ((errno.ENOSPC, "No space left on device; raise fs.inotify.max_user_watches"),
                           (errno.EACCES, "Permission denied; the directory must be readable")):
            with self.subTest(error=error):
                self.fail(error)
                done = run("serve", "--watch", "--config", str(self.file),
                           env={**os.environ, **self.environment})
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, rf"error {re.escape(str(self.file))}: cannot watch /\S*: {why}, "
                                              "or leave out --watch\n")

    def test_later_it_is_a_warning_and_reloads_go_on(self):
        self.watch(environment=self.environment)
        self.fail(errno.ENOSPC)
        for body in "two", "three":
            self.written("weir.yaml.new", body).rename(self.file)
            eventually(lambda: "cannot watch" in self.weir.stderr, "a warning")
            self.hang_up()
            self.assertEqual(self.client.get("/").body, body.encode())
        warning = (f"warning --watch: cannot watch {self.directory}: No space left on device; raise "
                   "fs.inotify.max_user_watches; changes there are not noticed, reload by SIGHUP\n")
        self.assertEqual(self.weir.stderr.count(warning), 1)
        self.failure.unlink()
