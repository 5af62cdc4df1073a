"""Reloads under load: not one request, upload or tunnel fails, and memory does not grow."""

import itertools
import os
import shutil
import tempfile
from pathlib import Path

from harness.case import SCALE, configuration, scaled
from harness.certificates import SecureConnection
from harness.checked_load import Load, serve
from harness.client import Connection, request_bytes
from harness.exposition import labelled
from harness.reload_case import ReloadCase, copied
from harness.services import free_port
from harness.tls_case import TlsCase
from harness.waiting import eventually

RELOADS_FOR_MEMORY = int(os.environ.get("WEIR_TEST_RELOADS", "1000"))


class UnderLoad(ReloadCase, TlsCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-load-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.files = {"certificate": str(self.directory / "crt"),
                      "private_key": str(self.directory / "key")}
        self.certificates = itertools.cycle([self.main, self.ca.issue("renewed", "DNS:weir.test")])
        self.renew()
        self.extra = ("127.0.0.1", free_port())  # of a listener that is removed at times

    def renew(self):
        """Another certificate in the same files."""
        certificate = next(self.certificates)
        shutil.copy(certificate.file, self.files["certificate"])
        shutil.copy(certificate.key, self.files["private_key"])

    def variants(self):
        """Configurations that differ in everything a reload applies, and all serve the load."""
        ups = [self.upstream(serve) for _ in range(3)]
        base = configuration(
            ups[0].url, workers=2, access_log={"path": "access.log"},
            listen=[{"address": "127.0.0.1:0"}, *self.listening(self.files),
                    {"address": f"unix:{self.directory}/weir.sock"}],
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
        second["listen"].append({"address": "%s:%d" % self.extra})
        third = copied(second)
        third["upstreams"]["main"]["servers"] = [{"url": ups[2].url}]
        third["access_log"] = {"path": "other.log", "format": "text"}
        third["client_address"] = {"trusted_proxies": ["127.0.0.0/8"]}
        third["downstream"] = {"max_head": "16KiB", "idle_timeout": "30s"}
        return [base, second, third]

    def reload_broken(self, config):
        """A file of which everything but the last address can be opened."""
        broken = copied(config)
        broken["listen"] += [{"address": f"unix:{self.directory}/never.sock"},
                             {"address": f"127.0.0.1:{self.taken}"}]
        problem, = self.reload_fails(broken)
        self.assertIn("in use", problem["message"])

    def loads(self):
        """By the way that they connect: each is begun, and stopped at the end."""
        context = self.ca.client_context()
        plain, secure, unix = self.weir.addresses
        loads = {name: Load(connect) for name, connect in {
            "plain": lambda: Connection(plain),
            "secure": lambda: SecureConnection(secure, context),
            "unix": lambda: Connection(unix),
            "removed": lambda: Connection(self.extra)}.items()}
        for load in loads.values():
            self.addCleanup(load.stop)
        for name in "plain", "secure", "unix":
            load = loads[name]
            for work in load.keeps_alive, load.connects, load.pipelines, load.uploads, load.tunnels:
                load.add(work, 2 if name == "plain" else 1)
        loads["removed"].add(loads["removed"].comes_and_goes, 2)
        return loads

    def test_no_request_upload_or_tunnel_fails(self):
        self.taken = self.upstream().port
        variants = self.variants()
        self.serve(variants[0])
        loads = self.loads()

        def await_rounds(count):
            for load in loads.values():
                load.await_rounds(count)

        await_rounds(5)
        for i in range(scaled(100)):
            self.renew()
            self.reload(variants[(i + 1) % len(variants)])
            if i % 10 == 0:
                await_rounds(2)  # those that are slow are in the middle of something
                self.reload_broken(variants[(i + 1) % len(variants)])
        await_rounds(5)
        for load in loads.values():
            load.stop()
        self.assertEqual({name: load.faults for name, load in loads.items() if load.faults}, {})
        for load in loads.values():
            self.assertGreater(min(load.rounds.values()), 10)
        self.assertGreater(sum(loads["removed"].ends.values()), 0)
        self.assertFalse((self.directory / "never.sock").exists())
        samples = self.scrape()
        failed = {key: value for key, value in samples.items()
                  if key[0] == "weir_upstream_requests_total" and value
                  and ("outcome", "answered") not in key[1]}
        self.assertEqual(failed, {})
        self.assertEqual(labelled(samples, "weir_config_reloads_total", result="ok"), scaled(100))

    def test_memory_does_not_grow(self):
        self.taken = self.upstream().port
        variants = self.variants()
        # A fixed threshold: glibc raises it when it is first exceeded, and keeps more from then on.
        self.serve(variants[0], environment={"MALLOC_MMAP_THRESHOLD_": str(128 * 1024)})
        client = self.connect(self.weir)

        def round_of_reloads(count):
            """Ends with the last variant: each has its own number of sockets."""
            for i in range(count - count % len(variants)):
                config = variants[i % len(variants)]
                config["policies"][f"unique{i % 50}"] = {"algorithm": "gcra", "rate": "5/1s"}
                if i % 10 == 0:
                    self.renew()
                    self.reload_broken(config)
                self.reload(config)
                del config["policies"][f"unique{i % 50}"]
                client.send(request_bytes("GET", "/x"))
                self.assertEqual(client.read().status, 200)
            return self.weir.memory_kib()

        open_files = lambda: len(os.listdir(f"/proc/{self.weir.pid}/fd"))
        threads = lambda: len(os.listdir(f"/proc/{self.weir.pid}/task"))
        count = max(60, RELOADS_FOR_MEMORY // SCALE)
        before = round_of_reloads(max(60, 200 // SCALE))  # until the allocator has what it needs
        files, tasks = open_files(), threads()
        after = round_of_reloads(count)
        if SCALE == 1:  # sanitizers keep what is freed
            self.assertLess(after - before, 640, f"{before} KiB grew to {after} KiB")
        eventually(lambda: open_files() <= files + 2, "no file is left open")
        eventually(lambda: threads() <= tasks + 1, "no thread is left")
