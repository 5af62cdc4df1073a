"""The other calls of the rate limit service: Kuadrant's, and the health of the service while it stops."""

import json
import signal

from harness.client import request_bytes
from harness.grpc_case import client_library
from harness.http2 import Http2Client
from harness.rls_case import RlsCase, domain, limit
from harness.rls_client import METHOD, Answer
from harness.rls_messages import descriptor, request
from harness.services import free_port
from harness.waiting import eventually

SERVICE = "/kuadrant.service.ratelimit.v1.RateLimitService"
METHODS = [METHOD, "/envoy.service.auth.v3.Authorization/Check", "/grpc.health.v1.Health/Check",
           *(f"{SERVICE}/{name}" for name in ("CheckRateLimit", "Report", "Reserve", "Commit"))]
TRUSTED = {"trusted_proxies": ["127.0.0.0/8"]}


class Kuadrant(RlsCase):
    """CheckRateLimit charges nothing; Report charges, whatever is left."""

    def begin(self, *limits, **options):
        self.client = self.serve_limits(domain(*(limits or [limit("user", 3), limit("team", 9)])), **options)

    def call(self, method, *descriptors, hits_addend=None):
        made = request("d", *descriptors, hits_addend=hits_addend)
        return Answer(self.client.call(f"{SERVICE}/{method}", made.SerializeToString()))

    def check(self, *descriptors, hits_addend=None):
        return self.call("CheckRateLimit", *descriptors, hits_addend=hits_addend)

    def report(self, *descriptors, hits_addend=None):
        return self.call("Report", *descriptors, hits_addend=hits_addend)

    def left(self, *entries):
        return self.client.ask("d", descriptor(*entries, hits_addend=0)).remaining[0]

    def test_a_check_charges_nothing_and_a_report_does(self):
        self.begin()
        ann = [("user", "ann")]
        self.assertEqual([self.check(ann).code for _ in range(5)], ["OK"] * 5)
        self.assertEqual(self.left(*ann), 3)
        self.assertEqual(self.report(ann, hits_addend=2).code, "OK")
        self.assertEqual((self.check(ann).code, self.left(*ann)), ("OK", 1))
        self.report(ann)
        self.assertEqual((self.check(ann).code, self.left(*ann)), ("OVER_LIMIT", 0))
        self.assertEqual(self.check([("user", "bob")]).code, "OK")

    def test_a_check_of_several_hits_is_about_all_of_them(self):
        self.begin()
        ann = [("user", "ann")]
        self.assertEqual([self.check(ann, hits_addend=hits).code for hits in (3, 4)], ["OK", "OVER_LIMIT"])
        self.assertEqual(self.check(descriptor(*ann, hits_addend=4)).code, "OVER_LIMIT")
        self.assertEqual(self.left(*ann), 3)

    def test_a_report_of_more_than_is_left_uses_up_the_limit(self):
        self.begin()
        ann = [("user", "ann")]
        self.report(ann, hits_addend=1)
        self.report(ann, hits_addend=1000)
        self.assertEqual((self.check(ann).code, self.left(*ann)), ("OVER_LIMIT", 0))

    def test_a_report_charges_every_limit_even_if_one_is_used_up(self):
        self.begin()
        both = [("user", "ann")], [("team", "a")]
        for _ in range(5):
            self.report(*both)
        self.assertEqual((self.left(*both[0]), self.left(*both[1])), (0, 4))
        self.assertEqual(self.check(*both).codes, ["OVER_LIMIT", "OK"])

    def test_negative_hits_give_back(self):
        self.begin()
        ann = [("user", "ann")]
        self.report(ann, hits_addend=3)
        self.assertEqual(self.check(ann).code, "OVER_LIMIT")
        back = descriptor(*ann, hits_addend=2, negative=True)
        self.assertEqual((self.check(back).code, self.left(*ann)), ("OK", 0))  # a check gives nothing back
        self.assertEqual((self.report(back).code, self.left(*ann)), ("OK", 2))

    def test_calls_of_envoy_and_of_kuadrant_count_together(self):
        self.begin()
        ann = [("user", "ann")]
        self.report(ann, hits_addend=2)
        self.assertEqual([self.client.ask("d", ann).code for _ in range(2)], ["OK", "OVER_LIMIT"])

    def test_redis_decides_the_same(self):
        redis = self.redis()
        self.begin(redis=redis)
        self.await_redis(self.weir)
        ann = [("user", "ann")]
        self.assertEqual([self.check(ann).code for _ in range(5)], ["OK"] * 5)
        self.report(ann, hits_addend=1000)
        self.assertEqual((self.check(ann).code, self.left(*ann)), ("OVER_LIMIT", 0))

    def test_without_a_limit_all_is_ok(self):
        self.begin()
        for method in "CheckRateLimit", "Report":
            answer = self.call(method, [("other", "a")])
            self.assertEqual((answer.code, answer.codes), ("OK", ["OK"]))

    def test_what_cannot_be_read_is_refused_as_for_envoy(self):
        self.begin()
        for method in "CheckRateLimit", "Report":
            self.assertEqual(self.client.call(f"{SERVICE}/{method}", b"\xff").code, "INVALID_ARGUMENT")
            self.assertEqual(self.call(method).details, "rate limit descriptor list must not be empty")
        self.assertEqual(self.client.call(f"{SERVICE}/Other", b"").code, "UNIMPLEMENTED")


class Stopping(RlsCase):
    def test_watches_get_the_end_and_do_not_delay_it(self):
        client = self.serve_limits(domain(limit("user")), shutdown_timeout="600s")
        watches = [client.watch() for _ in range(100)]
        self.assertEqual({client.health(next(watch)) for watch in watches}, {"SERVING"})
        self.weir.signal(signal.SIGTERM)
        self.assertEqual({client.health(next(watch)) for watch in watches}, {"NOT_SERVING"})
        for watch in watches:
            with self.assertRaises(client_library().RpcError) as ended:
                next(watch)
            self.assertEqual(ended.exception.code().name, "UNAVAILABLE")
        self.assertEqual(self.weir.wait(), 0)

    def test_watches_that_clients_cancel_do_not_delay_the_end(self):
        client = self.serve_limits(domain(limit("user")), shutdown_timeout="600s")
        watches = [client.watch() for _ in range(50)]
        for watch in watches:
            self.assertEqual(client.health(next(watch)), "SERVING")
            watch.cancel()
        self.assertEqual(client.ask("d", [("user", "ann")]).code, "OK")
        client.close()
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(self.weir.wait(), 0)

    def test_watches_outlive_reloads(self):
        client = self.serve_limits(domain(limit("user")))
        watch = client.watch()
        self.assertEqual(client.health(next(watch)), "SERVING")
        for _ in range(3):
            self.reload()
        self.assertEqual(client.check(), "SERVING")
        self.assertTrue(watch.is_active())
        watch.cancel()


    def test_a_watch_uses_the_running_configuration(self):
        client = self.serve_limits(domain(limit("user")), access_log={"path": "first.log"})
        watch = client.watch()
        self.assertEqual(client.health(next(watch)), "SERVING")
        self.reload({**self.weir.configuration, "access_log": {"path": "second.log"}})
        # The line of a request is in the log of the configuration that it has pinned.
        watch.cancel()
        second = self.weir.directory / "second.log"
        eventually(lambda: second.exists() and "Health/Watch" in second.read_text(), "the call is logged")


class Incomplete(RlsCase):
    """Messages that do not end."""

    def open_calls(self, count, bytes_of_each):
        """Connections with calls whose messages are not whole."""
        connections = []
        for _ in range(count // 100):
            connection = Http2Client(self.weir.addresses[-1])
            self.addCleanup(connection.close)
            for _ in range(100):
                stream = connection.open("POST", METHOD, {"content-type": "application/grpc"}, ends=False)
                connection.send_data(stream, b"\0\0\1\0\0" + bytes(bytes_of_each), ends=False)
            connections.append(connection)
        return connections

    def refused(self, connections):
        """The status of the calls that have ended."""
        responses = [response for connection in connections for response in connection.streams.values()]
        return [response.trailers.get("grpc-status") or response.fields.get("grpc-status")
                for response in responses if response.is_ended]

    def test_the_memory_of_incomplete_messages_is_bounded(self):
        client = self.serve_limits(domain(limit("user", 1000)))
        connections = self.open_calls(500, 60_000)
        for connection in connections:
            connection.ping()
        refused = self.refused(connections)
        self.assertGreater(len(refused), 200)
        self.assertLess(len(refused), 400)
        self.assertEqual(set(refused), {"8"})
        # Calls whose messages arrive whole are decided meanwhile.
        self.assertEqual(client.ask("d", [("user", "ann")]).code, "OK")
        for connection in connections:
            connection.close()

        def has_room():
            [again] = self.open_calls(100, 60_000)
            again.ping()
            again.close()
            return not self.refused([again])

        eventually(has_room, "the memory of calls that have ended is free")


class SharedListener(RlsCase):
    """One address for clients and for the service."""

    def begin(self, of_proxy=None, **sections):
        """`of_proxy`: settings of the listener."""
        address = {"address": f"127.0.0.1:{free_port()}"}
        self.client = self.serve_limits(domain(limit("user", 3)), service={"listen": [address]},
                                        listen=[{**address, **(of_proxy or {})}],
                                        routes=[{"respond": {"body": "of the proxy"}}], **sections)

    def test_a_trusted_proxy_uses_the_service_and_clients_do_not(self):
        body = {"domain": "d", "descriptors": [{"entries": [{"key": "user", "value": "ann"}]}]}
        self.begin()
        self.assertEqual(self.ask_json(body).body, b"of the proxy")
        self.begin(client_address=TRUSTED)
        self.assertEqual(self.ask_json(body).json()["overallCode"], "OK")
        self.assertEqual(self.client.ask("d", [("user", "ann")]).remaining, [1])
        with self.connect_to(self.weir.addresses[-1]) as client:
            self.assertEqual(client.get("/other").body, b"of the proxy")

    def test_a_client_does_not_reach_the_service_through_a_trusted_proxy(self):
        self.begin(client_address=TRUSTED)
        body = json.dumps({"domain": "d", "descriptors": [{"entries": [{"key": "user", "value": "ann"}]}]}).encode()
        own = ("X-Forwarded-For", "127.0.0.1")  # of the proxy, as Envoy adds it to its calls
        forwarded = [("X-Forwarded-For", "192.0.2.9"), ("Forwarded", "for=192.0.2.9"), ("X-Real-IP", "192.0.2.9"),
                     ("X-Forwarded-Proto", "https"), ("Via", "1.1 edge")]
        with self.connect_to(self.weir.addresses[-1]) as client:
            self.assertEqual(client.request("POST", "/json", [own], body).json()["overallCode"], "OK")
            for field in forwarded:
                for fields in [field], [own, field]:
                    self.assertEqual(client.request("POST", "/json", fields, body).body, b"of the proxy", fields)
                self.assertEqual(client.request("GET", "/healthcheck", [field]).body, b"of the proxy")

    def test_nor_do_calls_over_http2(self):
        self.begin(client_address=TRUSTED)
        self.assertEqual(self.client.ask("d", [("user", "ann")]).remaining, [2])
        for path in METHODS:
            for name, value in ("x-forwarded-for", "192.0.2.9"), ("x-forwarded-proto", "https"):
                outcome = self.client.call(path, b"", metadata=[(name, value)])
                self.assertEqual(outcome.code, "UNKNOWN", (path, name))  # a response that is not of gRPC
        self.assertEqual(self.client.ask("d", [("user", "ann")]).remaining, [1])

    def test_with_the_proxy_protocol_its_source_uses_the_service(self):
        self.begin({"proxy_protocol": True}, client_address=TRUSTED)
        request = request_bytes("GET", "/healthcheck")
        for source, body in ("192.0.2.9", b"of the proxy"), ("127.0.0.5", b"OK"):
            with self.connect_to(self.weir.addresses[-1]) as client:
                client.send(f"PROXY TCP4 {source} 198.51.100.2 8080 80\r\n".encode() + request)
                self.assertEqual(client.read().body, body, source)


class Removed(RlsCase):
    def test_connections_of_a_removed_service_get_503(self):
        self.client = self.serve_limits(domain(limit("user", 3)), listen=[{"address": f"127.0.0.1:{free_port()}"}],
                                        routes=[{"respond": {"status": 200}}])
        body = json.dumps({"domain": "d", "descriptors": [{"entries": [{"key": "user", "value": "a"}]}]}).encode()
        with self.connect_to(self.weir.addresses[-1]) as kept:
            self.assertEqual(kept.request("POST", "/json", [], body).status, 200)
            without = dict(self.weir.configuration)
            del without["rate_limit_service"]
            self.reload(without)
            try:
                self.assertEqual(kept.request("POST", "/json", [], body).status, 503)
            except OSError:
                pass  # the connection was closed after its grace
        self.assertIsNone(self.weir.process.poll())


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


class Reservations(RlsCase):
    """Reserve holds units until Commit charges what they have cost."""

    def begin(self, *limits, **options):
        self.client = self.serve_limits(domain(*(limits or [limit("user", 10)])), service={"reservations": True},
                                        **options)

    def reserve(self, amount, *entries, ttl=None):
        """The id; empty without a limit; None if it does not fit."""
        message = request("d", list(entries)).SerializeToString() + field(3, amount)
        if ttl is not None:
            message += field(4, field(1, ttl))
        outcome = self.client.call(f"{SERVICE}/Reserve", message)
        self.assertEqual(outcome.code, "OK", outcome.details)
        code, rest = outcome.response[1], outcome.response[2:]
        self.assertEqual(outcome.response[0], 8)
        return rest[2:].decode() if code == 1 else None

    def commit(self, identifier, amount, *entries):
        """Whether the reservation was released."""
        message = request("d", list(entries)).SerializeToString() + field(3, identifier.encode()) + field(4, amount)
        outcome = self.client.call(f"{SERVICE}/Commit", message)
        self.assertEqual(outcome.code, "OK", outcome.details)
        self.assertIn(outcome.response, (b"", b"\x08\x01"))
        return outcome.response != b""

    def left(self, *entries):
        return self.client.ask("d", descriptor(*entries, hits_addend=0)).remaining[0]

    def test_units_are_held_and_charged_as_they_have_cost(self):
        self.begin()
        ann = ("user", "ann")
        first = self.reserve(6, ann)
        self.assertEqual((len(first), self.left(ann)), (32, 4))
        self.assertIsNone(self.reserve(5, ann))  # together they would exceed the limit
        second = self.reserve(4, ann)
        self.assertEqual(self.left(ann), 0)
        self.assertTrue(self.commit(first, 1, ann))
        self.assertEqual(self.left(ann), 5)
        self.assertTrue(self.commit(second, 0, ann))
        self.assertEqual(self.left(ann), 9)

    def test_units_are_held_in_redis_for_all_instances(self):
        redis = self.redis()
        self.begin(redis=redis)
        ann = ("user", "ann")
        first = self.reserve(6, ann)
        other = self.start(self.weir.configuration)
        self.await_redis(other)
        client = self.client_of(other)
        self.assertEqual(client.ask("d", descriptor(ann, hits_addend=5)).code, "OVER_LIMIT")
        self.commit(first, 1, ann)
        eventually(lambda: client.ask("d", descriptor(ann, hits_addend=0)).remaining[0] > 0, "the units are released")

    def test_a_commit_after_the_time_of_its_reservation_charges_the_descriptors(self):
        self.begin()
        ann = ("user", "ann")
        reserved = self.reserve(6, ann, ttl=1)
        self.assertEqual(self.left(ann), 4)
        eventually(lambda: self.left(ann) == 10, "the units are released")
        self.assertFalse(self.commit(reserved, 3, ann))
        self.assertEqual(self.left(ann), 7)

    def test_a_commit_releases_a_reservation_once(self):
        self.begin()
        ann = ("user", "ann")
        reserved = self.reserve(6, ann)
        self.assertEqual([self.commit(reserved, 2, ann) for _ in range(2)], [True, False])
        self.assertEqual(self.left(ann), 6)  # the second one charges the descriptors

    def test_a_commit_of_an_id_that_no_reservation_has_releases_nothing(self):
        self.begin()
        ann = ("user", "ann")
        for identifier in "", "zz", "x" * 5000, "0" * 31 + "\n":
            self.assertFalse(self.commit(identifier, 1, ann), identifier[:10])
        self.assertEqual(self.left(ann), 6)
        self.assertEqual(self.reserve(1, ("other", "b")), "")  # no limit applies
        self.assertFalse(self.commit("", 1, ("other", "b")))

    def test_a_reserve_that_is_denied_holds_nothing(self):
        """A quota denies it, although the limit beside it has admitted its units."""
        self.begin(limit("user", 10), limit("quota", 1, quota_mode=True))
        ann, quota = ("user", "ann"), ("quota", "q")
        self.client.ask("d", [quota])
        message = request("d", [ann], [quota]).SerializeToString() + field(3, 6)
        self.assertEqual(self.client.call(f"{SERVICE}/Reserve", message).response[:2], b"\x08\x02")
        self.assertEqual(self.left(ann), 10)

    def test_a_reserve_whose_client_leaves_before_its_turn_holds_nothing(self):
        entry = {"domain": "d", "entries": {"user": "*"}, "policy": "p", "key": ["user"]}
        self.client = self.serve_limits(
            policies={"p": {"algorithm": "leaky_bucket", "rate": "1/2s", "queue": 5}},
            service={"reservations": True, "descriptors": [entry]})
        ann = ("user", "ann")
        self.reserve(1, ann)
        left = self.left(ann)
        message = request("d", [ann]).SerializeToString() + field(3, 1)
        call = self.client.channel.unary_unary(f"{SERVICE}/Reserve").future(message, timeout=60)
        eventually(lambda: self.left(ann) == left - 1, "it waits for its turn")
        call.cancel()
        eventually(lambda: self.left(ann) == left, "its unit is released")

    def test_without_the_setting_they_are_refused(self):
        self.client = self.serve_limits(domain(limit("user", 3)))
        for method in ("Reserve", "Commit"):
            outcome = self.client.call(f"{SERVICE}/{method}", request("d", [("user", "a")]).SerializeToString())
            self.assertEqual(outcome.code, "FAILED_PRECONDITION")
            self.assertIn("rate_limit_service.reservations", outcome.details)
