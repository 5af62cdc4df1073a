"""Upstreams over reloads: which connections and what knowledge of servers go on."""

import threading

from harness.case import configuration
from harness.client import request_bytes
from harness.exposition import labelled
from harness.reload_case import ReloadCase, copied
from harness.services import free_port
from harness.upstream import Upstream, answer
from harness.waiting import eventually


class Servers(ReloadCase):
    def open(self, *ups, **sections):
        config = configuration(ups[0].url, **sections)
        config["upstreams"]["main"]["servers"] = [{"url": up.url} for up in ups]
        self.serve(config)
        self.client = self.connect(self.weir)
        return config

    def servers(self, *ups, **settings):
        config = copied(self.weir.configuration)
        config["upstreams"]["main"].update(servers=[{"url": up.url} for up in ups], **settings)
        return config

    def ask(self, count=1):
        for _ in range(count):
            self.assertEqual(self.client.request("POST", "/", body=b"x").body, b"x")

    def test_an_unchanged_server_keeps_its_connections(self):
        up = self.upstream()
        self.open(up)
        self.ask()
        for _ in range(5):
            self.reload()
            self.ask()
        self.assertEqual(up.connections, 1)

    def test_others_come_and_go(self):
        first, second, third = (self.upstream() for _ in range(3))
        self.open(first, second)
        self.ask(4)
        self.reload(self.servers(third, first, second), ["upstreams.main"])
        self.ask(6)
        self.reload(self.servers(first, second, retries=0), ["upstreams.main"])
        eventually(lambda: third.open_connections == 0, "the removed one's connection is closed")
        self.ask(4)
        self.assertEqual([up.connections for up in (first, second, third)], [1, 1, 1])
        self.assertEqual(len(third.requests), 2)
        eventually(lambda: labelled(self.scrape(), "weir_upstream_requests_total", upstream="main",
                                    outcome="answered") == 14, "every request is counted")

    def test_a_weight_and_timeouts_change(self):
        up = self.upstream()
        self.open(up)
        self.ask()
        config = self.servers(up, response_timeout="7s", connect_timeout="3s", retries=0,
                              idle_timeout="30s", balance="least_connections")
        config["upstreams"]["main"]["servers"][0]["weight"] = 5
        self.reload(config, ["upstreams.main"])
        self.ask()
        self.assertEqual(up.connections, 1)

    def test_a_shorter_idle_timeout_counts_for_connections_that_are_idle(self):
        up = self.upstream()
        self.open(up)
        self.ask()
        self.reload(self.servers(up, idle_timeout="1s"))
        eventually(lambda: up.open_connections == 0, "it is closed")
        self.ask()

    def test_reuse_safe_shares_nothing_of_before(self):
        up = self.upstream()
        self.open(up)
        self.ask()
        self.reload(self.servers(up, reuse="safe"), ["upstreams.main"])
        self.ask(2)
        self.assertEqual(up.connections, 2)

    def test_an_upstream_of_another_name_is_another_one(self):
        up = self.upstream()
        config = self.open(up)
        self.ask()
        config["upstreams"] = {"renamed": config["upstreams"]["main"]}
        config["routes"] = [{"upstream": "renamed"}]
        self.reload(config, ["upstreams.main", "upstreams.renamed", "routes.route-1"])
        self.ask()
        self.assertEqual(up.connections, 2)
        eventually(lambda: up.open_connections == 1, "the old connection is closed")

    def test_a_request_in_progress_at_a_removed_server_is_answered(self):
        old, may_answer = self.late_upstream()
        new = self.upstream()
        self.open(old)
        waiting = self.connect(self.weir)
        waiting.send(request_bytes("GET", "/"))
        old.await_requests(1)
        self.reload(self.servers(new))
        self.ask()
        may_answer.set()
        self.assertEqual(waiting.read().body, b"late")
        eventually(lambda: old.open_connections == 0, "its connection is not kept")
        waiting.send(request_bytes("GET", "/"))
        self.assertEqual(waiting.read().status, 200)
        self.assertEqual((len(old.requests), len(new.requests)), (1, 2))

    def test_a_retry_of_an_old_request_goes_to_an_old_server(self):
        may_fail = threading.Event()
        self.addCleanup(may_fail.set)

        def behaviour(exchange):
            may_fail.wait()
            exchange.reset()

        bad, good, new = self.upstream(behaviour), self.upstream(answer(b"old")), self.upstream()
        self.open(bad, good)
        waiting = self.connect(self.weir)
        waiting.send(request_bytes("GET", "/"))
        bad.await_requests(1)
        self.reload(self.servers(new))
        may_fail.set()
        self.assertEqual(waiting.read().body, b"old")
        self.assertEqual(len(new.requests), 0)


class Health(ReloadCase):
    def up(self, url):
        authority = url.partition("//")[2]
        return labelled(self.scrape(), "weir_upstream_server_up", upstream="main",
                        server=authority)

    def test_a_server_that_is_left_out_stays_out(self):
        dead, alive = f"http://127.0.0.1:{free_port()}", self.upstream(answer(b"fine"))
        config = configuration(alive.url)
        config["upstreams"]["main"]["servers"].insert(0, {"url": dead})
        self.serve(config)
        client = self.connect(self.weir)
        for _ in range(6):
            self.assertEqual(client.get("/").body, b"fine")
        eventually(lambda: self.up(dead) == 0, "it is left out")
        config["upstreams"]["main"]["retries"] = 3
        self.reload(config, ["upstreams.main"])
        self.assertEqual(self.up(dead), 0)
        # Removed and configured again it begins again.
        without = copied(config)
        del without["upstreams"]["main"]["servers"][0]
        self.reload(without)
        self.reload(config)
        self.assertEqual(self.up(dead), 1)

    def test_active_checks_begin_change_and_end(self):
        status = ["200 OK"]

        def behaviour(exchange):
            answer(b"x", status[0] if exchange.target == "/health" else "200 OK")(exchange)

        up = self.upstream(behaviour)
        config = configuration(up.url)
        self.serve(config)
        checked = copied(config)
        checked["upstreams"]["main"]["health_check"] = {"path": "/health", "interval": "100ms",
                                                        "rise": 1, "fall": 1}

        def checks():
            return sum(request.target == "/health" for request in up.requests)

        self.reload(checked, ["upstreams.main"])
        eventually(lambda: checks() > 1, "it is checked")
        status[0] = "500 no"
        eventually(lambda: self.up(up.url) == 0, "it is found down")
        client = self.connect(self.weir)
        self.assert_problem(client.get("/"), 503)
        checked["upstreams"]["main"]["health_check"]["path"] = "/fine"
        self.reload(checked)
        eventually(lambda: self.up(up.url) == 1, "it is up by the new path")
        count = checks()
        self.reload(config)
        self.assertEqual(client.get("/").status, 200)
        self.assertEqual(self.up(up.url), 1)
        self.assertEqual(checks(), count)

    def test_a_server_whose_url_is_spelled_differently_keeps_its_gauge(self):
        port, alive = free_port(), self.upstream(answer(b"fine"))
        config = configuration(alive.url)
        servers = config["upstreams"]["main"]["servers"]
        servers.insert(0, {"url": f"http://127.0.0.1:{port}"})
        self.serve(config)
        client = self.connect(self.weir)
        for _ in range(6):
            self.assertEqual(client.get("/").body, b"fine")
        eventually(lambda: self.up(f"http://127.0.0.1:{port}") == 0, "it is left out")
        servers[0]["url"] = f"HTTP://127.0.0.1:{port}/"
        self.reload(config, ["upstreams.main"])
        self.assertEqual(self.up(f"http://127.0.0.1:{port}"), 0)
        back = Upstream(answer(b"back"), port=port)
        self.addCleanup(back.stop)

        def is_back():
            client.get("/")
            return self.up(f"http://127.0.0.1:{port}") == 1

        eventually(is_back, "it is marked up")
        self.assertIn(f"upstream main: server 127.0.0.1:{port} marked up", self.weir.stderr)
