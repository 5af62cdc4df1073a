"""Listeners over reloads: kept, added, removed."""

import tempfile
from pathlib import Path

from harness.case import configuration, scaled
from harness.checked_load import Load
from harness.client import Connection, request_bytes
from harness.reload_case import ReloadCase, copied
from harness.services import free_port, is_listening
from harness.upstream import answer
from harness.waiting import eventually
from harness.weir import host_and_port


class Listeners(ReloadCase):
    def open(self, *addresses, **sections):
        config = configuration(routes=[{"respond": {"body": "fine"}}], workers=2,
                               listen=[{"address": address} for address in addresses], **sections)
        self.serve(config)
        return config

    def listen(self, *addresses):
        config = copied(self.weir.configuration)
        config["listen"] = [{"address": address} for address in addresses]
        return config

    def assert_served(self, address):
        for _ in range(8):  # by every worker
            with self.connect_to(address) as client:
                self.assertEqual(client.get("/").body, b"fine")

    def test_a_port_that_was_picked_is_kept(self):
        self.open("127.0.0.1:0", "127.0.0.1:0")
        clients = [self.connect_to(address) for address in self.weir.addresses]
        for _ in range(3):
            self.assertEqual(self.reload()["changed"], [])
        for address, client in zip(self.weir.addresses, clients):
            self.assert_served(address)
            self.assertEqual(client.get("/").body, b"fine")
        self.assertEqual(self.weir.stderr.count(" listening on "), 2)

    def test_one_is_added(self):
        self.open("127.0.0.1:0")
        client = self.connect(self.weir)
        address = ("127.0.0.1", free_port())
        self.reload(self.listen("127.0.0.1:0", "%s:%d" % address), ["listen"])
        self.assert_served(address)
        self.assert_served(self.weir.address)
        self.assertEqual(client.get("/").body, b"fine")
        self.assertIn("info listening on http://%s:%d\n" % address, self.weir.stderr)

    def test_one_is_removed_and_comes_back(self):
        address = ("127.0.0.1", free_port())
        self.open("127.0.0.1:0", "%s:%d" % address)
        client = self.connect(self.weir)
        idle, silent = self.connect_to(address), self.connect_to(address)
        idle.get("/")
        self.reload(self.listen("127.0.0.1:0"), ["listen"])
        eventually(lambda: not is_listening(address), "new connections are refused")
        self.assertIn("info no longer listening on http://%s:%d\n" % address, self.weir.stderr)
        self.assertTrue(idle.is_ended())
        self.assertTrue(silent.is_gone())
        self.assertEqual(client.get("/").body, b"fine")
        self.reload(self.listen("127.0.0.1:0", "%s:%d" % address))
        self.assert_served(address)

    def test_the_last_request_on_a_removed_one_is_answered_and_told_to_close(self):
        up, may_answer = self.late_upstream(b"late but whole")
        address = ("127.0.0.1", free_port())
        config = configuration(up.url, listen=[{"address": "127.0.0.1:0"},
                                               {"address": "%s:%d" % address}])
        self.serve(config)
        waiting = self.connect_to(address)
        waiting.send(request_bytes("GET", "/"))
        up.await_requests(1)
        staying = self.connect(self.weir)
        staying.send(request_bytes("GET", "/"))
        up.await_requests(2)
        config["listen"].pop()
        self.reload(config)
        may_answer.set()
        response = waiting.read()
        self.assertEqual((response.status, response.body), (200, b"late but whole"))
        self.assertTrue(response.fields.has_token("Connection", "close"))
        self.assertTrue(waiting.is_ended())
        self.assertFalse(staying.read().fields.has_token("Connection", "close"))
        self.assertEqual(staying.get("/").status, 200)

    def test_an_address_in_use_is_a_problem_and_nothing_changes(self):
        self.open("127.0.0.1:0")
        taken = self.upstream(answer(b"theirs")).port
        free = ("127.0.0.1", free_port())
        problem, = self.reload_fails(self.listen("%s:%d" % free, f"127.0.0.1:{taken}"))
        self.assertEqual(problem["path"], "listen[1].address")
        self.assertIn("in use", problem["message"])
        self.assertFalse(is_listening(free))
        self.assert_served(self.weir.address)

    def test_one_address_takes_the_place_of_another_of_the_same_port(self):
        port = free_port()
        self.open(f"127.0.0.1:{port}")
        client = self.connect(self.weir)
        client.get("/")
        self.reload(self.listen(f"0.0.0.0:{port}"), ["listen"])
        self.assert_served(("127.0.0.1", port))
        self.assertTrue(client.is_ended())
        self.reload(self.listen(f"127.0.0.1:{port}"), ["listen"])
        self.assert_served(("127.0.0.1", port))

    def test_a_rejected_overlap_takes_no_connections(self):
        port, taken = free_port(), self.upstream().port
        self.open(f"0.0.0.0:{port}")
        load = Load(lambda: Connection(("127.0.0.1", port)), body="fine")
        self.addCleanup(load.stop)
        load.add(load.connects, 4)
        for _ in range(scaled(100)):
            self.reload_fails(self.listen(f"127.0.0.1:{port}", f"127.0.0.1:{taken}"))
        load.await_rounds(5)
        load.stop()
        self.assertEqual(load.faults, [])

    def test_unix_sockets(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-socket-")
        self.addCleanup(directory.cleanup)
        first, second = (Path(directory.name) / name for name in ("one.sock", "two.sock"))
        self.open(f"unix:{first}")
        client = self.connect_to(str(first))
        self.reload(self.listen(f"unix:{first}", f"unix:{second}"), ["listen"])
        self.assert_served(str(first))
        self.assert_served(str(second))
        self.assertEqual(client.get("/").body, b"fine")
        self.reload(self.listen(f"unix:{second}"), ["listen"])
        self.assertFalse(first.exists())
        self.assert_served(str(second))
        self.weir.stop()
        self.assertFalse(second.exists())

    def test_how_connections_of_a_kept_one_begin(self):
        self.open("127.0.0.1:0", client_address={"trusted_proxies": ["127.0.0.0/8"]})
        before = self.connect(self.weir)
        before.get("/")
        config = copied(self.weir.configuration)
        config["listen"][0]["proxy_protocol"] = True
        self.reload(config, ["listen"])
        self.assertEqual(before.get("/").body, b"fine")
        with self.weir.connect() as client:
            client.send(b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n")
            self.assertEqual(client.get("/").body, b"fine")


class AdminServer(ReloadCase):
    def test_the_admin_server_moves_to_addresses_that_overlap(self):
        port, other = free_port(), free_port()
        config = configuration(routes=[{"respond": {"body": "x"}}],
                               listen=[{"address": f"127.0.0.1:{other}"}],
                               admin={"address": f"127.0.0.1:{port}"})
        self.serve(config)
        for address in (f"0.0.0.0:{port}", f"localhost:{port}", f"[::]:{port}", f"127.0.0.1:{port}"):
            self.weir.write({**config, "admin": {"address": address}})
            self.assertEqual(self.post().status, 200, address)
            self.assertIn(f"info admin on http://{address}\n", self.weir.stderr)
            self.assertEqual(self.connect(self.weir).get("/").body, b"x")
        # It changes places with a listener, and back.
        swapped = {**config, "listen": [{"address": f"127.0.0.1:{port}"}],
                   "admin": {"address": f"127.0.0.1:{other}"}}
        for config in swapped, config:
            self.weir.write(config)
            self.assertEqual(self.post().status, 200)
            for name, address in (("admin", config["admin"]["address"]),
                                  ("listener", config["listen"][0]["address"])):
                with self.connect_to(host_and_port(address)) as client:
                    found = client.get("/healthz", {"Host": address}).body
                    self.assertEqual(found, b"ok\n" if name == "admin" else b"x")
            self.weir.admin_address = host_and_port(config["admin"]["address"])
