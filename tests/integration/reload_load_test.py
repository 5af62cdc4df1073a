"""Reloads under load: not one request, upload or tunnel fails, and memory does not grow."""

import hashlib
import os
import threading

from harness.case import SCALE, configuration, scaled
from harness.client import request_bytes
from harness.exposition import labelled
from harness.message import Truncated
from harness.payload import payload
from harness.reload_case import ReloadCase, copied
from harness.services import free_port
from harness.waiting import eventually

# All of them where there is time: 1000 (CONTRIBUTING.md).
RELOADS_FOR_MEMORY = int(os.environ.get("WEIR_TEST_RELOADS", "300"))
UPGRADE = {"Connection": "Upgrade", "Upgrade": "websocket"}
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


def serve(exchange):
    """Tunnels echo; bodies are answered with their digest, other requests with their target."""
    if exchange.target == "/socket":
        exchange.is_closed = True
        exchange.send(SWITCH)
        while data := bytes(exchange.reader.buffer) or exchange.sock.recv(65536):
            exchange.reader.buffer.clear()
            exchange.send(data)
        return
    if exchange.method == "POST":
        digest = hashlib.sha256()
        exchange.read_body(digest.update)
        return exchange.answer(digest.hexdigest().encode())
    exchange.answer(exchange.target.encode())


class Load:
    """Threads that work until stopped, each round checked; what went wrong is kept."""

    def __init__(self, weir):
        self.weir = weir
        self.faults = []
        self.rounds = {}
        self.is_stopped = threading.Event()
        self.threads = []

    def add(self, work, count):
        for i in range(count):
            name = f"{work.__name__}-{i}"
            self.rounds[name] = 0
            self.threads.append(threading.Thread(target=self._run, args=(work, name)))
            self.threads[-1].start()

    def _run(self, work, name):
        try:
            turns = work(name)
            while not self.is_stopped.is_set() and not self.faults:
                next(turns)
                self.rounds[name] += 1
            turns.close()
        except (AssertionError, OSError, Truncated, StopIteration) as fault:
            self.faults.append((name, self.rounds[name], repr(fault)))

    def await_rounds(self, count):
        """Each thread has done so many more."""
        goal = {name: done + count for name, done in self.rounds.items()}
        eventually(lambda: self.faults or all(self.rounds[n] >= g for n, g in goal.items()),
                   f"{count} more rounds of each: {self.rounds}")

    def stop(self):
        self.is_stopped.set()
        for thread in self.threads:
            thread.join()

    # What the threads do, a round each time.

    def keeps_alive(self, name):
        with self.weir.connect() as client:
            for turn in range(1 << 30):
                self._get(client, f"/{name}/{turn}")
                yield

    def connects(self, name):
        for turn in range(1 << 30):
            with self.weir.connect() as client:
                self._get(client, f"/{name}/{turn}")
            yield

    def pipelines(self, name):
        with self.weir.connect() as client:
            for turn in range(1 << 30):
                targets = [f"/{name}/{turn}/{i}" for i in range(8)]
                client.send(b"".join(request_bytes("GET", target) for target in targets))
                for target in targets:
                    self._check(client.read(), target)
                yield

    def uploads(self, name):
        """In pieces, some before a reload and some after."""
        pieces = [payload(3000 + i) for i in range(10)]
        body = b"".join(pieces)
        digest = hashlib.sha256(body).hexdigest()
        with self.weir.connect() as client:
            while True:
                client.send(request_bytes("POST", f"/{name}", {"Content-Length": len(body)}))
                for piece in pieces:
                    client.send(piece)
                    yield
                self._check(client.read(), digest)

    def tunnels(self, name):
        with self.weir.connect() as client:
            client.send(request_bytes("GET", "/socket", UPGRADE))
            if client.read_head().status != 101:
                raise AssertionError("no tunnel")
            for turn in range(1 << 30):
                message = f"{name} {turn}".encode()
                client.send(message)
                got = bytearray()
                client.reader.exactly(len(message), got.extend)
                if got != message:
                    raise AssertionError(f"{got} for {message}")
                yield

    def _get(self, client, target):
        client.send(request_bytes("GET", target))
        self._check(client.read(), target)

    def _check(self, response, body):
        if (response.status, response.body) != (200, body.encode()):
            raise AssertionError(f"{response.start} {response.body[:200]} instead of {body}")


class UnderLoad(ReloadCase):
    def variants(self):
        """Configurations that differ in everything a reload applies, and all serve the load."""
        ups = [self.upstream(serve) for _ in range(3)]
        base = configuration(
            ups[0].url, workers=2, access_log={"path": "access.log"},
            identities={"client": {"client_address": {}}},
            policies={"p": {"algorithm": "gcra", "rate": "1000000/1s"}},
            routes=[{"upstream": "main", "limits": [{"policy": "p"}]}])
        second = copied(base)
        second["upstreams"]["main"]["servers"] = [{"url": ups[1].url}, {"url": ups[0].url}]
        second["upstreams"]["other"] = {"servers": [{"url": ups[2].url}], "reuse": "safe"}
        second["policies"] = {"first": {"algorithm": "sliding_window", "rate": "900000/1s"},
                              "p": {"algorithm": "gcra", "rate": "2000000/1s"}}
        second["routes"] = [
            {"match": {"path": "/keeps_alive-0/**"}, "upstream": "other",
             "limits": [{"policy": "first"}]},
            {"upstream": "main", "limits": [{"policy": "first"}, {"policy": "p"}]}]
        second["listen"].append({"address": f"127.0.0.1:{free_port()}"})
        third = copied(second)
        third["upstreams"]["main"]["servers"] = [{"url": ups[2].url}]
        third["access_log"] = {"path": "other.log", "format": "text"}
        third["client_address"] = {"trusted_proxies": ["127.0.0.0/8"]}
        third["downstream"] = {"max_head": "16KiB", "idle_timeout": "30s"}
        return [base, second, third]

    def test_no_request_upload_or_tunnel_fails(self):
        variants = self.variants()
        self.serve(variants[0])
        load = Load(self.weir)
        try:
            load.add(load.keeps_alive, 4)
            load.add(load.connects, 2)
            load.add(load.pipelines, 2)
            load.add(load.uploads, 4)
            load.add(load.tunnels, 4)
            load.await_rounds(5)
            for i in range(scaled(100)):
                self.reload(variants[(i + 1) % len(variants)])
                if i % 10 == 0:
                    load.await_rounds(2)  # those that are slow are in the middle of something
            load.await_rounds(5)
        finally:
            load.stop()
        self.assertEqual(load.faults, [])
        self.assertGreater(min(load.rounds.values()), 10)
        samples = self.scrape()
        failed = {key: value for key, value in samples.items()
                  if key[0] == "weir_upstream_requests_total" and value
                  and ("outcome", "answered") not in key[1]}
        self.assertEqual(failed, {})
        self.assertEqual(labelled(samples, "weir_config_reloads_total", result="ok"), scaled(100))

    def test_memory_does_not_grow(self):
        variants = self.variants()
        self.serve(variants[0])
        client = self.connect(self.weir)

        def round_of_reloads(count):
            """Ends with the last variant: each has its own number of sockets."""
            for i in range(count - count % len(variants)):
                config = variants[i % len(variants)]
                config["policies"][f"unique{i % 50}"] = {"algorithm": "gcra", "rate": "5/1s"}
                self.reload(config)
                del config["policies"][f"unique{i % 50}"]
                client.send(request_bytes("GET", "/x"))
                self.assertEqual(client.read().status, 200)
            return self.weir.memory_kib()

        open_files = lambda: len(os.listdir(f"/proc/{self.weir.pid}/fd"))
        threads = lambda: len(os.listdir(f"/proc/{self.weir.pid}/task"))
        count = max(60, RELOADS_FOR_MEMORY // SCALE)
        before = round_of_reloads(max(60, 400 // SCALE))  # until the allocator has what it needs
        files, tasks = open_files(), threads()
        after = round_of_reloads(count)
        if SCALE == 1:  # sanitizers keep what is freed
            self.assertLess(after - before, 1024, f"{before} KiB grew to {after} KiB")
        eventually(lambda: open_files() <= files + 2, "no file is left open")
        eventually(lambda: threads() <= tasks + 1, "no thread is left")
