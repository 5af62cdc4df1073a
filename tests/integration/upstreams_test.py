"""Several servers in one upstream: load balancing, ejection, and retries."""

import signal
import socket
import threading
import unittest

from harness.case import scaled
from harness.client import request_bytes
from harness.group import Group, named
from harness.load import Load
from harness.services import Nginx
from harness.waiting import eventually


class Turns(Group):
    def test_servers_take_turns_by_weight(self):
        one, two, weir = self.pair(weights=(3, 1))
        self.assertEqual(self.answers(self.connect(weir), 40), {"one": 30, "two": 10})
        self.assertEqual((one.connections, two.connections), (1, 1))

    def test_least_connections_leaves_a_slow_server_alone(self):
        release = threading.Event()
        one, two, weir = self.pair(lambda e: (release.wait(60), e.answer(b"one")),
                                   main={"balance": "least_connections"})
        waiting = self.connect(weir)
        waiting.send(request_bytes("GET", "/"))
        one.await_requests(1)
        self.assertEqual(self.answers(self.connect(weir), 10), {"two": 10})
        release.set()
        self.assertEqual(waiting.read().body, b"one")
        seen = self.answers(self.connect(weir), 10)
        self.assertEqual(seen, {"one": 5, "two": 5})

    def test_a_request_of_http_1_0_without_host_gets_that_of_the_chosen_server(self):
        one, two, weir = self.pair()
        for _ in range(2):
            with weir.connect() as client:
                self.assertEqual(client.request("GET", "/", version="1.0").status, 200)
        for upstream in (one, two):
            self.assertEqual(upstream.requests[0]["Host"], upstream.url.removeprefix("http://"))


class Warnings(Group):
    def test_what_is_wrong_with_one_server_does_not_hide_what_is_with_another(self):
        one, two, weir = self.pair(*2 * [lambda e: e.send(b"HTTP/1.1 999 No\r\n\r\n")])
        client = self.connect(weir)
        for _ in range(4):
            self.assertEqual(client.get("/").status, 502)
        for upstream in (one, two):
            eventually(lambda server=upstream.url.removeprefix("http://"):
                       f"{server} sent an answer that is not valid HTTP" in weir.stderr, upstream.url)


class Repeating(Group):
    def test_what_could_not_be_sent_goes_to_the_other_server_whatever_the_method(self):
        one, two, weir = self.pair()
        one.stop()
        client = self.connect(weir)
        for i in range(10):
            response = client.request("POST", f"/{i}", body=b"pay")
            self.assertEqual((response.status, response.body), (200, b"two"))
        self.assertEqual([r.target for r in two.requests], [f"/{i}" for i in range(10)])
        self.assertEqual([r.body for r in two.requests], [b"pay"] * 10)

    def test_a_server_that_does_not_take_connections_is_left_for_another(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            address = listener.getsockname()
            fillers = []
            for _ in range(4):
                filler = socket.socket()
                self.addCleanup(filler.close)
                filler.setblocking(False)
                filler.connect_ex(address)
                fillers.append(filler)
            two = self.upstream(named("two"))
            weir = self.group(f"http://127.0.0.1:{address[1]}", two,
                              main={"connect_timeout": "300ms"})
            client = self.connect(weir)
            for _ in range(8):
                response = client.request("POST", "/", body=b"pay")
                self.assertEqual((response.status, response.body), (200, b"two"))

    def test_a_get_that_was_not_answered_goes_to_the_other_server(self):
        one, two, weir = self.pair(lambda e: e.reset())
        client = self.connect(weir)
        self.assertEqual(self.answers(client, 2), {"two": 2})
        self.assertEqual((len(one.requests), len(two.requests)), (1, 2))


class Ejection(Group):
    def test_a_server_that_fails_is_left_out_and_comes_back(self):
        one, two, weir = self.pair()
        client = self.connect(weir)
        self.assertEqual(self.answers(client, 4), {"one": 2, "two": 2})
        self.assertEqual(self.up(weir, one), 1)
        one.stop()
        self.assertEqual(self.answers(client, 20), {"two": 20})
        eventually(lambda: self.up(weir, one) == 0, "the gauge reports it as down")
        self.assertEqual(self.up(weir, two), 1)
        name = one.url.removeprefix("http://")
        eventually(lambda: f"upstream main: server {name} marked down: Connection refused"
                   in weir.stderr, "the log reports it down, and why")

        again = self.upstream(named("again"), port=one.port)
        eventually(lambda: self.answers(client, 4).get("again"), "it is tried again",
                   patience_s=20)
        self.assertEqual(self.answers(client, 20), {"again": 10, "two": 10})
        eventually(lambda: self.up(weir, again) == 1, "the gauge reports it as up")
        eventually(lambda: f"upstream main: server {name} marked up" in weir.stderr,
                   "the log reports it up")

    def test_a_server_that_waits_in_vain_for_a_client_is_not_at_fault(self):
        may_close = threading.Event()
        self.addCleanup(may_close.set)

        def impatient(exchange):
            if exchange.method == "GET":
                return exchange.answer(b"fine")
            may_close.wait()
            exchange.close()

        one, two, weir = self.pair(impatient, impatient)
        lazy = [self.connect(weir) for _ in range(12)]
        for client in lazy:
            client.send(request_bytes("POST", "/", {"Content-Length": "10"}))
        eventually(lambda: len(one.requests) + len(two.requests) == 12, "all are waited for")
        threading.Event().wait(0.7)
        for client in lazy:
            client.send(b"x")  # a byte now and then is no body
        threading.Event().wait(0.5)
        may_close.set()
        for client in lazy:
            self.assert_problem(client.read(), 502)
        self.assertEqual(self.answers(self.connect(weir), 4), {"fine": 4})
        self.assertEqual([len([r for r in u.requests if r.method == "GET"]) for u in (one, two)],
                         [2, 2])

    def test_a_server_that_closes_before_a_body_had_time_to_come_is_at_fault(self):
        one, two, weir = self.pair(lambda e: e.close())
        for _ in range(12):
            with weir.connect() as client:
                client.send(request_bytes("POST", "/", {"Content-Length": "3"}))
                threading.Event().wait(0.05)
                client.send(b"pay")
                self.assertIn(client.read().status, (200, 502))
        eventually(lambda: self.up(weir, one) == 0, "it is left out")
        self.assertEqual(self.up(weir, two), 1)

    def test_answers_with_a_5xx_do_not_put_a_server_out(self):
        def fails(exchange):
            exchange.read_body()
            exchange.answer(b"", "500 Internal Server Error")

        one, two, weir = self.pair(fails)
        self.assertEqual(self.answers(self.connect(weir), 20), {500: 10, "two": 10})

    def test_idle_connections_of_a_server_that_is_out_are_not_kept(self):
        two_is_broken = threading.Event()

        def may_break(exchange):
            exchange.read_body()
            if two_is_broken.is_set() and exchange.target == "/" and exchange.method == "GET":
                exchange.reset()
            else:
                exchange.answer(b"two")

        one, two, weir = self.pair(two=may_break)
        many = [self.connect(weir) for _ in range(20)]
        for client in many:
            client.send(request_bytes("GET", "/ok"))
        for client in many:
            client.read()
        two_is_broken.set()
        eventually(lambda: self.answers(many[0], 4) and not two.open_connections,
                   "the connections to the server that fails are closed")
        self.assertEqual(self.answers(many[0], 10), {"one": 10})


class Pools(Group):
    def test_idle_connections_are_bounded_over_all_servers(self):
        count = scaled(600)
        release = threading.Event()
        hold = lambda e: (release.wait(60), e.answer())
        one, two, weir = self.pair(hold, hold)
        clients = [self.connect(weir) for _ in range(count)]
        for client in clients:
            client.send(request_bytes("GET", "/"))
        eventually(lambda: len(one.requests) + len(two.requests) == count, "all are under way")
        release.set()
        for client in clients:
            self.assertEqual(client.read().status, 200)
        eventually(lambda: one.open_connections + two.open_connections <= min(count, 512),
                   "no more than 512 are kept")
        self.assertEqual(one.open_connections + two.open_connections, min(count, 512))


class Repeated(Load):
    """Sends the same request again and again."""

    def ask(self, number):
        method = ("GET", "HEAD")[number % 2]
        with self.weir.connect() as client:
            while not self.is_over:
                response = client.request(method, "/fixed")
                if response.status != 200:
                    return self.failures.append((response.status, response.body))
                self.answered += 1


class Restarts(Group):
    """nginx sends its fixed answer in one piece, so that its end truncates no answer: a request whose
    answer has begun cannot be sent again."""

    def restart_under_load(self, number):
        servers = [Nginx(), Nginx()]
        for server in servers:
            self.addCleanup(server.stop)
        weir = self.group(*servers)
        load = Repeated(weir, 8)
        try:
            for turn in range(scaled(8)):
                server = servers[turn % 2]
                load.await_answers(200)
                server.end(number)
                load.await_answers(200)
                server.launch()
        finally:
            load.end()
        self.assertEqual(load.failures, [])

    def test_killing_one_of_two_servers_loses_no_idempotent_request(self):
        self.restart_under_load(signal.SIGKILL)

    def test_stopping_one_of_two_servers_loses_no_idempotent_request(self):
        self.restart_under_load(signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
