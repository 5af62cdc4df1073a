"""Other people's programs: where they are, and one that listens until the test is over."""

import os
import shutil
import subprocess
import sys

from .waiting import eventually


def program(name):
    """The path of a program. Debian has some in directories that are not in every PATH."""
    path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if path is None:
        raise AssertionError(f"{name} is missing: run script/bootstrap test")
    return path


class Listening:
    """A program that runs in the foreground; it is ready when `is_up()` returns true."""

    def __init__(self, command, is_up, environment=None):
        self.process = subprocess.Popen(
            [program(command[0]), *command[1:]], stdin=subprocess.DEVNULL, stdout=sys.stderr,
            stderr=sys.stderr, env={**os.environ, **(environment or {})})
        try:
            eventually(lambda: self._has_not_ended() and is_up(), f"{command[0]} is listening")
        except AssertionError:
            self.stop()
            raise

    def _has_not_ended(self):
        if self.process.poll() is not None:
            raise AssertionError(f"{self.process.args[0]} ended with {self.process.returncode}")
        return True

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)
