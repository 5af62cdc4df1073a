"""Costs that only the response states, and what is held for them: `reserve`, `cost_from` and `missing`."""

import gzip
import json
import threading
from concurrent.futures import ThreadPoolExecutor

from harness.client import chunked, request_bytes
from harness.waiting import eventually
from holds_test import HoldCase, InRedis

UNITS = {"units": {"algorithm": "fixed_window", "rate": "1000/1h"}}
HUNDRED = {"units": {"algorithm": "fixed_window", "rate": "100/1h"}}
TOTAL = {"json": "/usage/total_tokens"}
JSON = ("Content-Type", "application/json")
LOG = {"access_log": {"path": "access.log"}}


def limit(**keys):
    return {"policy": "units", "key": "client", **keys}


def usage(total):
    return json.dumps({"choices": [{"text": "\"usage\": {\"total_tokens\": 1}"}], "usage": {"total_tokens": total}}).encode()


def by_name(bodies):
    """Answers /NAME with bodies[NAME]: (body, fields) or a behaviour."""
    def behaviour(exchange):
        exchange.read_body()
        found = bodies[exchange.target[1:]]
        if callable(found):
            found(exchange)
        else:
            exchange.answer(found[0], fields=found[1:])
    return behaviour


class MeteringCase(HoldCase):
    def begin(self, behaviour, limits, policies=None, **sections):
        super().begin(behaviour, limits, policies or UNITS, **{**LOG, **sections})

    def lines(self, count):
        log = self.weir.directory / "access.log"
        eventually(lambda: log.read_text().count("\n") >= count, f"{count} lines")
        return [json.loads(line) for line in log.read_text().splitlines()]

    def settled(self, count):
        return [(line["reserved"], line["cost"], line["settled_by"]) for line in self.lines(count)]


class CostFrom(MeteringCase):
    def ask(self, bodies, limit_keys):
        self.begin(by_name(bodies), [limit(**limit_keys)])
        return {name: self.client.get("/" + name) for name in bodies}

    def test_the_first_source_that_the_response_has_is_charged(self):
        answers = self.ask({"header": (usage(7), JSON, ("X-Usage", "30")), "json": (usage(7), JSON),
                            "bad": (usage(7), JSON, ("X-Usage", "-1")), "none": (b"plain",)},
                           {"reserve": 20, "cost_from": [{"header": "X-Usage"}, TOTAL]})
        self.assertEqual(self.settled(4),
                         [(20, 30, "header"), (20, 7, "json"), (20, 7, "json"), (20, 20, "missing")])
        self.assertEqual(answers["json"].body, usage(7))
        self.assertEqual(answers["none"]["RateLimit-Remaining"], str(1000 - 30 - 7 - 7 - 20))
        metrics = self.connect_admin(self.weir).get("/metrics").body.decode()
        for by, count in (("header", 1), ("json", 2), ("missing", 1), ("aborted", 0)):
            self.assertIn(f'weir_settlements_total{{policy="units",by="{by}"}} {count}\n', metrics)

    def test_several_pointers_are_added_up_if_all_are_there(self):
        both = json.dumps({"usage": {"in": 5, "out": 11}}).encode()
        self.ask({"both": (both, JSON), "one": (b'{"usage": {"in": 5}}', JSON)},
                 {"reserve": 2, "cost_from": [{"json": ["/usage/in", "/usage/out"]}]})
        self.assertEqual(self.settled(2), [(2, 16, "json"), (2, 2, "missing")])

    def test_of_a_stream_the_last_event_that_states_it_is_charged(self):
        def stream(exchange):
            events = [b'data: {"usage": null}', b'data: {"usage": {"total_tokens": 1e1}}', b": comment",
                      b'data: {"usage": {"total_tokens": 21}}', b"data: [DONE]"]
            self.data = data = b"".join(event + b"\r\n\r\n" for event in events)
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                          b"Transfer-Encoding: chunked\r\n\r\n")
            for at in range(0, len(data), 7):
                exchange.send(chunked(data[at:at + 7], [7])[:-5])
            exchange.send(b"0\r\n\r\n")
        answers = self.ask({"stream": stream}, {"reserve": 5, "cost_from": [TOTAL]})
        self.assertEqual(answers["stream"].body, self.data)
        self.assertEqual(self.settled(1), [(5, 21, "json")])

    def test_a_trailer_states_it(self):
        def with_trailer(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Usage\r\n\r\n"
                          b"2\r\nok\r\n0\r\nX-Usage: 13\r\n\r\n")
        answers = self.ask({"trailer": with_trailer}, {"reserve": 5, "cost_from": [{"header": "x-usage"}]})
        self.assertEqual((answers["trailer"].body, "Trailer" in answers["trailer"].fields), (b"ok", False))
        self.assertEqual(self.settled(1), [(5, 13, "header")])

    def test_the_upstream_is_asked_for_a_body_that_can_be_read(self):
        packed = (gzip.compress(usage(7)), JSON, ("Content-Encoding", "gzip"))
        self.begin(by_name({"packed": packed}), [limit(reserve=5, cost_from=[TOTAL])])
        answer = self.client.get("/packed", fields={"Accept-Encoding": "gzip, br"})
        self.assertEqual(self.service.requests[0]["Accept-Encoding"], "identity")
        self.assertEqual(answer.body, packed[0])
        self.assertEqual(self.settled(1), [(5, 5, "missing")])

    def test_without_a_json_source_the_coding_is_left_to_the_client(self):
        self.begin(by_name({"a": (b"", ("X-Usage", "1"))}), [limit(cost_from=[{"header": "x-usage"}])])
        self.client.get("/a", fields={"Accept-Encoding": "gzip"})
        self.assertEqual(self.service.requests[0]["Accept-Encoding"], "gzip")

    def test_a_missing_cost_may_be_free(self):
        self.ask({"none": (b"plain",), "no-number": (b'{"usage": {"total_tokens": "7"}}', JSON)},
                 {"reserve": 5, "cost_from": [TOTAL], "missing": "zero"})
        self.assertEqual(self.settled(2), [(5, 0, "missing")] * 2)

    def test_a_cost_above_at_most_is_charged_as_that(self):
        self.ask({"huge": (usage(10 ** 30), JSON), "seven": (usage(7), JSON)},
                 {"reserve": {"header": "x-no", "default": 3, "at_most": 50}, "cost_from": [TOTAL]})
        self.assertEqual(self.settled(2), [(3, 50, "json"), (3, 7, "json")])

    def test_a_huge_cost_is_a_debt_and_no_overflow(self):
        answers = self.ask({"huge": (usage(10 ** 30), JSON)}, {"reserve": 3, "cost_from": [TOTAL]})
        self.assertEqual(answers["huge"].status, 200)
        eventually(lambda: self.client.get("/huge").status == 429, "the cost is charged")

    def test_the_status_decides_whether_it_is_charged(self):
        def failing(exchange):
            exchange.answer(usage(7), status="500 Internal Server Error", fields=[JSON])
        self.ask({"failing": failing, "fine": (usage(7), JSON)},
                 {"reserve": 5, "cost_from": [TOTAL], "charge": {"status_not": ["500-599"]}})
        self.assertEqual(self.settled(2), [(5, 0, "status"), (5, 7, "json")])

    def test_an_upstream_that_fails_costs_nothing_and_one_that_breaks_off_what_was_held(self):
        def cut(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
            exchange.reset()

        def after_usage(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 500\r\n\r\n"
                          b'data: {"usage": {"total_tokens": 40}}\n\n')
            exchange.reset()
        self.begin(by_name({"cut": cut, "after": after_usage}), [limit(reserve=5, cost_from=[TOTAL])])
        for name in ("cut", "after"):
            with self.connect(self.weir) as client:
                client.send(request_bytes("GET", "/" + name))
                client.is_gone()
        self.service.stop()
        with self.connect(self.weir) as client:
            self.assertEqual(client.get("/cut").status, 502)
        self.assertEqual(self.settled(3), [(5, 5, "missing"), (5, 40, "json"), (5, 0, "missing")])

    def test_a_client_that_leaves_is_charged_what_was_held_or_more(self):
        def slow(exchange):
            exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            if exchange.target == "/after":
                exchange.send(b'data: {"usage": {"total_tokens": 40}}\n\n')
            exchange.send(b"data: more\n\n")
            exchange.reader.fill()  # until the proxy leaves
            exchange.close()
        self.begin(slow, [limit(reserve=5, cost_from=[TOTAL])])
        for name in ("/before", "/after"):
            with self.connect(self.weir) as client:
                client.send(request_bytes("GET", name))
                client.read_head()
                eventually(lambda: b"more" in client.reader.buffer or client.reader.fill(), "the events")
            self.lines(1)
        self.assertEqual(self.settled(2), [(5, 5, "aborted"), (5, 40, "json")])

    def test_a_head_response_and_a_204_state_nothing(self):
        def empty(exchange):
            exchange.send(b"HTTP/1.1 204 No Content\r\n\r\n")
        self.begin(by_name({"no-content": empty, "json": (usage(7), JSON)}), [limit(reserve=5, cost_from=[TOTAL])])
        self.assertEqual(self.client.get("/no-content").status, 204)
        self.assertEqual(self.settled(1), [(5, 5, "missing")])


class Reserve(MeteringCase):
    FROM_BODY = {"json": "/max_tokens", "default": 50, "at_most": 400}

    def begin_echo(self, **keys):
        def behaviour(exchange):
            exchange.answer(exchange.read_body(), fields=[("X-Usage", "1")])
        self.begin(behaviour, [limit(cost_from=[{"header": "x-usage"}], **keys)])

    def reserved(self, count):
        return [line["reserved"] for line in self.lines(count)]

    def test_the_body_of_the_request_states_it(self):
        self.begin_echo(reserve=self.FROM_BODY)
        bodies = [b'{"max_tokens": 120}', b'{"max_tokens": 4000, "x": [1]}', b'{"max_tokens": 0}', b"{}",
                  b'{"max_tokens": "7"}', b'{"max_tokens": 7', b"\xef\xbb\xbf{\"max_tokens\": 9}"]
        for body in bodies:
            self.assertEqual(self.client.request("POST", "/", [JSON], body).body, body)
        self.client.request("POST", "/", [("Content-Type", "text/plain")], b'{"max_tokens": 120}')
        self.client.get("/")
        self.assertEqual(self.reserved(9), [120, 400, 1, 50, 50, 50, 9, 120, 50])

    def test_a_body_up_to_64_kib_is_read_in_any_pieces_and_forwarded_as_it_is(self):
        self.begin_echo(reserve=self.FROM_BODY)
        sizes = (60_000, 65_536, 65_537, 300_000)
        for size in sizes:
            body = b'{"x": "' + b"y" * (size - 27) + b'", "max_tokens": 7}'
            body += b" " * (size - len(body))
            with self.connect(self.weir) as client:
                client.send(request_bytes("POST", "/", [JSON, ("Content-Length", str(len(body)))]))
                for at in range(0, len(body), 20_000):
                    client.send(body[at:at + 20_000])
                self.assertEqual(client.read("POST").body, body, size)
        self.assertEqual(self.reserved(4), [7, 7, 50, 50])

    def test_a_chunked_body(self):
        self.begin_echo(reserve=self.FROM_BODY)
        for size, piece in ((5_000, 900), (100_000, 9_000), (40_000, 1)):
            body = b'{"max_tokens": 7, "x": "' + b"y" * size + b'"}'
            with self.connect(self.weir) as client:
                head = request_bytes("POST", "/", [JSON, ("Transfer-Encoding", "chunked")])
                client.send(head + chunked(body, [piece] * (len(body) // piece) + [len(body) % piece or piece]))
                self.assertEqual(client.read("POST").body, body)
        self.assertEqual(self.reserved(3), [7, 50, 50])

    def test_a_client_that_waits_for_100_sends_its_body(self):
        self.begin_echo(reserve=self.FROM_BODY)
        body = b'{"max_tokens": 33}'
        fields = [JSON, ("Content-Length", str(len(body))), ("Expect", "100-continue")]
        self.client.send(request_bytes("POST", "/", fields))
        self.assertEqual(self.client.read_head().status, 100)
        self.client.send(body)
        self.assertEqual(self.client.read("POST").body, body)
        self.assertEqual(self.reserved(1), [33])

    def test_a_field_states_it(self):
        self.begin_echo(reserve={"header": "X-Max", "default": 50})
        for fields in ([("X-Max", "7")], [("x-max", " 1e2 ")], [("X-Max", "-7")], [("X-Max", "1"), ("X-Max", "2")], []):
            self.assertEqual(self.client.get("/", fields).status, 200)
        self.assertEqual(self.reserved(5), [7, 100, 50, 50, 50])

    def test_a_denied_request_keeps_the_connection_if_its_body_was_read(self):
        self.begin_echo(reserve={"json": "/max_tokens", "default": 50})
        answer = self.client.request("POST", "/", [JSON], b'{"max_tokens": 1001}')
        self.assertEqual((answer.status, "Retry-After" in answer.fields), (429, False))
        self.assertEqual(self.client.request("POST", "/", [JSON], b'{"max_tokens": 10}').status, 200)
        self.assertEqual(len(self.service.requests), 1)

    def test_a_body_that_is_malformed_or_does_not_arrive(self):
        self.begin_echo(reserve=self.FROM_BODY)
        head = request_bytes("POST", "/", [JSON, ("Transfer-Encoding", "chunked")])
        with self.connect(self.weir) as client:
            client.send(head + b"5\r\nabc")
        with self.connect(self.weir) as client:
            client.send(head + b"x\r\n")
            self.assertEqual(client.read("POST").status, 400)
        self.assertEqual(self.service.requests, [])
        self.assertEqual(sorted(line["status"] for line in self.lines(2)), [400, 499])
        self.assertEqual(self.held("units"), 0)

    def test_two_requests_in_one_packet(self):
        self.begin_echo(reserve=self.FROM_BODY)
        bodies = [b'{"max_tokens": 11}', b'{"max_tokens": 12}']
        self.client.send(b"".join(request_bytes("POST", "/", [JSON], body) for body in bodies))
        self.assertEqual([self.client.read("POST").body for _ in bodies], bodies)
        self.assertEqual(self.reserved(2), [11, 12])

    def test_a_retry_sends_the_whole_body_again(self):
        tries = []

        def once_closed(exchange):
            tries.append(exchange.read_body())
            if len(tries) == 2:
                return exchange.reset()
            exchange.answer(b"ok")
        self.begin(once_closed, [limit(reserve=self.FROM_BODY)])
        body = b'{"max_tokens": 11, "x": "' + b"y" * 30_000 + b'"}'
        for _ in range(2):
            self.assertEqual(self.client.request("PUT", "/", [JSON], body).status, 200)
        self.assertEqual(tries, [body] * 3)

    def test_without_cost_from_what_was_held_is_charged(self):
        self.begin(by_name({"": (b"ok",)}), [limit(reserve={"header": "x-max", "default": 50})])
        self.client.get("/", [("X-Max", "7")])
        self.assertEqual(self.settled(1), [(7, 7, "reserve")])


class Together(MeteringCase):
    """50 requests at once against 100 units; each costs 60."""

    def ask_at_once(self, reserve):
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)

        def behaviour(exchange):
            exchange.read_body()
            may_answer.wait()
            exchange.answer(usage(60), fields=[JSON])
        self.begin(behaviour, [limit(reserve=reserve, cost_from=[TOTAL])], HUNDRED)
        log = self.weir.directory / "access.log"
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(self.at_once, 50, "/")
            eventually(lambda: len(self.service.requests) + log.read_text().count("\n") == 50, "all are decided")
            may_answer.set()
            statuses = asked.result()
        eventually(lambda: self.held("units") == 0, "all are settled")
        return statuses.count(200)

    def test_with_the_whole_cost_reserved_one_is_admitted(self):
        self.assertEqual(self.ask_at_once(60), 1)
        self.assertEqual(sum(line["cost"] or 0 for line in self.lines(50) if line["status"] == 200), 60)

    def test_with_less_reserved_the_excess_is_what_the_admitted_requests_had_not_reserved(self):
        self.assertEqual(self.ask_at_once(20), 5)
        spent = sum(line["cost"] for line in self.lines(50) if line["status"] == 200)
        self.assertEqual(spent, 100 + 5 * (60 - 20))
        with self.connect(self.weir) as client:
            self.assertEqual(client.get("/").status, 429)


class CostFromInRedis(InRedis, CostFrom):
    pass


class ReserveInRedis(InRedis, Reserve):
    pass


class TogetherInRedis(InRedis, Together):
    pass
