"""A real redis-server of the test's own."""

import os
import re
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from .preload import preloaded
from .programs import program
from .services import free_port, is_listening
from .waiting import eventually


class RedisError(Exception):
    """An error reply."""


class RedisClient:
    """One connection; a call sends one command and reads its reply (RESP2)."""

    def __init__(self, port, user=None, password=None):
        self.sock = socket.create_connection(("127.0.0.1", port), 60)
        self.file = self.sock.makefile("rb")
        if password is not None:
            self("AUTH", *([user] if user else []), password)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.file.close()
        self.sock.close()

    def __call__(self, *words):
        self.send(*words)
        return self.read()

    def send(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        self.sock.sendall(b"*%d\r\n" % len(words) +
                          b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b"-":
            raise RedisError(rest.decode())
        if kind == b":":
            return int(rest)
        count = int(rest)
        if count < 0:
            return None
        if kind == b"$":
            return self.file.read(count + 2)[:-2]
        return [self.read() for _ in range(count)]


class Redis:
    """redis-server on a free port and on a unix socket, without persistence unless asked for."""

    def __init__(self, *options, environment=None):
        self._directory = tempfile.TemporaryDirectory(prefix="weir-redis-")
        self.directory = Path(self._directory.name)
        self.unix_path = str(self.directory / "redis.sock")
        self.port = free_port()
        self.options = list(options)
        self.environment = environment or {}
        self._command = [program("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1",
                         "--unixsocket", self.unix_path, "--dir", str(self.directory),
                         "--save", "", "--appendonly", "no", "--daemonize", "no"]
        self.process = None
        self.user = self.password = None

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def start(self, *options):
        """Once more after stop(), at the same addresses."""
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen([*self._command, *self.options, *options],
                                            env={**os.environ, **self.environment},
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        eventually(self._is_up, "redis-server is listening")
        return self

    def _is_up(self):
        if self.process.poll() is not None:
            raise AssertionError("redis-server ended:\n" + (self.directory / "log").read_text())
        return is_listening(self.port)

    def await_loaded(self):
        eventually(lambda: b"\nloading:0" in self("INFO", "persistence"), "redis has loaded")

    def stop(self):
        """As a crash does it."""
        if self.is_running:
            self.process.kill()
            self.process.wait()

    def close(self):
        self.stop()
        self._directory.cleanup()

    def pause(self):
        """Its sockets stay open and take what is sent; nothing answers."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def client(self):
        return RedisClient(self.port, self.user, self.password)

    def __call__(self, *words):
        with self.client() as client:
            return client(*words)

    def sleep(self, seconds):
        """Keeps it busy with one script; returns when that has begun."""
        client = self.client()
        client.send("EVAL", "local t = redis.call('TIME') "
                    "local till = t[1] * 1000000 + t[2] + ARGV[1] * 1000000 "
                    "repeat t = redis.call('TIME') until t[1] * 1000000 + t[2] >= till", 0, seconds)
        return client

    def keys(self, pattern="*"):
        with self.client() as client:
            cursor, found = b"0", []
            while True:
                cursor, some = client("SCAN", cursor, "MATCH", pattern, "COUNT", 1000)
                found += some
                if cursor == b"0":
                    return found

    def counters(self, policy=".+"):
        """The keys with the counters of clients."""
        return [key for key in self.keys()
                if re.search(rf"\{{[0-9a-f]{{32}}\}}:{policy}:[a-z]\d$", key.decode())]

    def calls(self, command):
        """How often a command was executed, from INFO commandstats."""
        stats = self("INFO", "commandstats").decode()
        found = re.search(rf"^cmdstat_{command}:calls=(\d+)", stats, re.MULTILINE)
        return int(found[1]) if found else 0

    def contents(self):
        """Every key and everything that is in it, as one text of bytes."""
        found = []
        with self.client() as client:
            for key in self.keys():
                kind = client("TYPE", key)
                if kind == b"string":
                    value = client("GET", key)
                elif kind == b"list":
                    value = b"\n".join(client("LRANGE", key, 0, -1))
                elif kind == b"zset":
                    value = b"\n".join(client("ZRANGE", key, 0, -1, "WITHSCORES"))
                else:
                    value = b"\n".join(client("HGETALL", key))
                found += [key, value]
        return b"\n".join(found)


def skewed(seconds):
    """The environment of a process whose wall clock is off by as much.

    Not by libfaketime, which moves the instants that Asio gives to its timerfd as well."""
    return preloaded("WEIR_SKEWED_CLOCK", SKEWED_CLOCK_SECONDS=seconds)
