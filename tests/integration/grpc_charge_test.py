"""Limits that charge by grpc-status: the response counts, whatever the client sends."""

from harness.case import limited
from harness.http2_case import Http2UpstreamCase

CONTENT_TYPES = ("application/grpc", "application/grpc+proto", "APPLICATION/GRPC+json", "application/grpc ;x",
                 "application/grpc-web", "application/grpcx", "application/x-grpc", "application/grpc,text/plain",
                 "application/json", "text/plain", None)
TWO_CONTENT_TYPES = ([("content-type", "application/grpc"), ("content-type", "text/plain")],
                     [("content-type", "text/plain"), ("content-type", "application/grpc")])
TYPES = [[("content-type", one)] if one else [] for one in CONTENT_TYPES] + list(TWO_CONTENT_TYPES)
TE = [("te", "trailers")]
TE_OF_HTTP1 = [("te", "trailers"), ("connection", "te")]
MESSAGE = b"\0\0\0\0\1a"
GRPC = {"content-type": "application/grpc"}
FAILED = {"grpc-status": "16"}


def lines_of(fields):
    return "".join(f"{name}: {value}\r\n" for name, value in fields.items())


class Charges(Http2UpstreamCase):
    """A client may fail twice; then it is denied."""

    def serve_failures(self, protocol, head, trailers=None, charge=None):
        """A service that answers each call like this. Its calls are counted by user."""
        self.calls = {}
        self.users = 0

        def behaviour(exchange):
            user = exchange["x-user"]
            self.calls[user] = self.calls.get(user, 0) + 1
            if protocol == "http2":
                exchange.answer(200, head, b"" if trailers is None else MESSAGE, trailers)
                return
            exchange.read_body()
            framing, end = "Content-Length: 0\r\n\r\n", ""
            if trailers is not None:
                framing = "Transfer-Encoding: chunked\r\n\r\n6\r\n\0\0\0\0\1a\r\n"
                end = f"0\r\n{lines_of(trailers)}\r\n"
            exchange.send(f"HTTP/1.1 200 OK\r\n{lines_of(head)}{framing}{end}".encode())

        up = self.http2_upstream(behaviour) if protocol == "http2" else self.upstream(behaviour)
        config = limited({"logins": {"algorithm": "sliding_log", "rate": "2/1h"}}, [], {"user": {"header": "x-user"}},
                         access_log={})
        config["upstreams"] = {"main": {"protocol": protocol, "servers": [{"url": up.url}]}}
        limit = {"policy": "logins", "key": "user", "charge": charge or {"grpc_status": [7, 16]}}
        config["routes"] = [{"upstream": "main", "limits": [limit]}]
        self.weir = self.start(config)

    def served(self, client, fields, requests=4, **options):
        """How many of these requests of a new user reach the service."""
        self.users += 1
        user = f"u{self.users}"
        for _ in range(requests):
            client.request("POST", "/auth.v1.Sessions/Create", [("x-user", user), *fields], MESSAGE, **options)
        return self.calls[user]

    def assert_charged(self, served=2):
        for version, client, wants_trailers in (("http2", self.speak(self.weir), TE),
                                                ("http1", self.connect(self.weir), TE_OF_HTTP1)):
            for fields in TYPES:
                for te in wants_trailers, []:
                    with self.subTest(fields=fields, te=te, client=version):
                        self.assertEqual(self.served(client, fields + te), served)

    def test_the_trailers_of_http2(self):
        self.serve_failures("http2", GRPC, FAILED)
        self.assert_charged()

    def test_the_head_of_http2(self):
        self.serve_failures("http2", GRPC | FAILED)
        self.assert_charged()

    def test_the_trailers_of_http1(self):
        self.serve_failures("http1", GRPC, FAILED)
        self.assert_charged()

    def test_the_head_of_http1(self):
        self.serve_failures("http1", GRPC | FAILED)
        self.assert_charged()

    def test_a_response_of_another_type_that_has_the_status(self):
        self.serve_failures("http2", {"content-type": "application/json"}, FAILED)
        self.assert_charged()

    def test_another_status_is_free(self):
        self.serve_failures("http2", GRPC, {"grpc-status": "0"})
        self.assert_charged(served=4)

    def test_a_response_of_grpc_without_the_status_has_that_of_its_http_status(self):
        self.serve_failures("http2", GRPC, {}, charge={"grpc_status": [2]})
        self.assert_charged()

    def test_a_client_of_http_1_0(self):
        self.serve_failures("http2", GRPC, FAILED)
        fields = [("x-user", "old"), ("content-type", "application/grpc")]
        for _ in range(4):
            self.connect(self.weir).request("POST", "/", fields, MESSAGE, version="1.0")
        self.assertEqual(self.calls, {"old": 2})

    def test_other_responses_are_not_listed(self):
        self.serve_failures("http1", {"content-type": "application/json"})
        for client in self.speak(self.weir), self.connect(self.weir):
            self.assertEqual(self.served(client, [("content-type", "application/json")]), 4)

    def test_the_log_has_the_status_that_counts(self):
        self.serve_failures("http2", GRPC, FAILED)
        self.served(self.connect(self.weir), [("content-type", "text/plain")])
        self.served(self.speak(self.weir), [("content-type", "application/grpc")], requests=1)
        lines = self.log_lines(5)
        self.assertEqual([(line["status"], line["grpc_status"], line["cost"]) for line in lines],
                         [(200, 16, 1), (200, 16, 1), (429, None, 1), (429, None, 1), (200, 16, 1)])

    def test_a_client_that_leaves_before_the_trailers_is_charged(self):
        """The content type of the response shows that the outcome is still to come."""
        self.begin(lambda exchange: exchange.head(200, GRPC), access_log={},
                   policies={"logins": {"algorithm": "sliding_log", "rate": "2/1h"}},
                   routes=[{"upstream": "main", "limits": [{"policy": "logins", "charge": {"grpc_status": [16]}}]}])
        client = self.speak(self.weir)
        for content_type in "application/grpc", "application/json":
            stream = client.open("POST", "/", {"content-type": content_type}, ends=False)
            client.send_data(stream, MESSAGE)
            client.read_until(lambda: client.streams[stream].status)
            client.reset(stream)
        self.assertEqual([(line["cost"], line["settled_by"]) for line in self.log_lines(2)], [(1, "aborted")] * 2)
