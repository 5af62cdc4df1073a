"""The program under test: started, found by the port it logs, stopped, and its end judged."""

import json
import os
import re
import resource
import signal
import subprocess
import tempfile
from pathlib import Path

from .client import Connection
from .waiting import eventually

BINARY = os.environ.get("WEIR_BINARY", "")
LISTENING = re.compile(r"listening on (?:https?://)?(\S+)")
ADMIN = re.compile(r"admin\D*http://(\S+)")
SANITIZER_REPORT = re.compile(r"ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|runtime error:")


def binary():
    if not BINARY:
        raise AssertionError("WEIR_BINARY is not set: run the tests through ctest")
    return BINARY


def run(*arguments, **options):
    """A command that ends by itself."""
    options = {"timeout": 60, "capture_output": True, **options}
    return subprocess.run([binary(), *arguments], text=True, **options)


def host_and_port(text):
    host, _, port = text.rstrip("/").rpartition(":")
    return host.strip("[]"), int(port)


def limit_descriptors(count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


class Weir:
    """`weir serve` with a configuration (a dict or YAML text), or any other command that serves."""

    def __init__(self, configuration=None, command=None, environment=None, descriptors=None):
        self._directory = tempfile.TemporaryDirectory(prefix="weir-")
        self.directory = Path(self._directory.name)
        self.configuration = configuration
        self.file = self.directory / "weir.yaml"
        if configuration is not None:
            self.write(configuration)
        self.stdout_file = self.directory / "stdout"
        self.stderr_file = self.directory / "stderr"
        arguments = command or ["serve", "--config", str(self.file)]
        with open(self.stdout_file, "wb") as out, open(self.stderr_file, "wb") as err:
            self.process = subprocess.Popen(
                [binary(), *arguments], stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                cwd=self.directory, env={**os.environ, **(environment or {})},
                preexec_fn=descriptors and (lambda: limit_descriptors(descriptors)))
        self.is_stopped = False
        self.addresses = []
        self.admin_address = None
        try:
            eventually(self._is_ready, "the server is listening")
        except AssertionError:
            self.kill()
            raise

    def write(self, configuration):
        text = configuration if isinstance(configuration,
                                           str) else json.dumps(configuration, indent=1)
        self.file.write_text(text)

    @property
    def stderr(self):
        return self.stderr_file.read_text(errors="replace")

    @property
    def stdout(self):
        return self.stdout_file.read_text(errors="replace")

    @property
    def pid(self):
        return self.process.pid

    @property
    def address(self):
        return self.addresses[0]

    @property
    def port(self):
        return self.address[1]

    def _is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"ended with {self.process.returncode} at start:\n{self.stderr}")
        lines = self.stderr.split("\n")[:-1]
        admin = [m[1] for line in lines if (m := ADMIN.search(line))]
        found = [m[1] for line in lines if (m := LISTENING.search(line)) and not ADMIN.search(line)]
        wants_admin = "--admin" in self.process.args or isinstance(
            self.configuration, dict) and isinstance(self.configuration.get("admin"), dict)
        listeners = 1
        if isinstance(self.configuration, dict):
            service = self.configuration.get("rate_limit_service", {})
            addresses = [*self.configuration.get("listen", ()), *service.get("listen", ())]
            shared = [one["address"] for one in addresses if not one["address"].endswith(":0")]
            listeners = len(addresses) - len(shared) + len(set(shared))
        if len(found) < listeners or (wants_admin and not admin):
            return False
        self.addresses = [text[5:] if text.startswith("unix:") else host_and_port(text)
                          for text in found]
        self.admin_address = host_and_port(admin[0]) if admin else None
        return True

    def connect(self, **options):
        return Connection(self.address, **options)

    def connect_admin(self):
        """To the admin server, by its address as a scraper has it."""
        return Connection(self.admin_address, host="%s:%d" % self.admin_address)

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, patience_s=60):
        """The exit code, after a look for what sanitizers found."""
        code = self.process.wait(patience_s)
        report = SANITIZER_REPORT.search(self.stderr)
        if report:
            raise AssertionError(f"sanitizer report:\n{self.stderr}")
        return code

    def stop(self):
        """Orderly; anything but exit code 0 is a failure. More than once does no harm."""
        if self.is_stopped:
            return
        self.is_stopped = True
        try:
            if self.process.poll() is None:
                self.signal(signal.SIGTERM)
            code = self.wait()
            if code != 0:
                raise AssertionError(f"ended with {code}:\n{self.stderr}")
        finally:
            self.kill()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._directory.cleanup()

    def memory_kib(self):
        """Resident set now."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])

    def peak_memory_kib(self):
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])
