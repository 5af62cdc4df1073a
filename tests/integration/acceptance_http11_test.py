"""Single requests that other people wrote down, each with the answers that are right.

The table is tests/acceptance/http11.tsv; its header says how to read it.
"""

import codecs
import socket
from pathlib import Path

from harness.case import Case, configuration
from harness.client import Truncated

TABLE = Path(__file__).resolve().parent.parent / "acceptance" / "http11.tsv"
COUNT = 136
AFTER = b"after"

# Only the end of what the client sends shows that no more will come.
ENDS_EARLY = {
    "RFC9112-2.3-HTTP09-REQUEST", "COMP-POST-CL-UNDERSEND", "COMP-CHUNKED-NO-FINAL",
    "MAL-INCOMPLETE-REQUEST", "MAL-EMPTY-REQUEST", "MAL-POST-CL-HUGE-NO-BODY",
}


def vectors(authority):
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    for line in lines[1:]:
        name, _, _, payload, accepted = line.split("\t")
        # One row's payload is the program text that makes it: an empty one.
        text = "" if payload.startswith("PayloadFactory") else payload
        data = codecs.escape_decode(text.encode())[0].replace(b"HOST", authority)
        yield name, data, accepted.split(" ")


def is_accepted(outcome, accepted):
    """`outcome` is a status, or "close"; "2xx+close" is judged by where it is closed."""
    def matches(pattern):
        if pattern.startswith("!"):
            return not matches(pattern[1:])
        pattern = pattern.removesuffix("+close")
        if pattern.endswith("xx"):
            return outcome != "close" and outcome[0] == pattern[0]
        return outcome == pattern

    return any(matches(pattern) for pattern in accepted)


def method_of(data):
    return data.lstrip(b"\r\n").partition(b" ")[0].decode("latin-1")


class Http11Probe(Case):
    @classmethod
    def setUpClass(cls):
        cls.rows = list(vectors(b"HOST"))

    def setUp(self):
        self.up = self.upstream()
        self.weir = self.start(configuration(self.up.url, listen=[{"address": "127.0.0.1:0", "http2": False}]))

    def outcome(self, connection, data):
        """What comes first: the answer, or the end of the connection."""
        try:
            return connection.read(method_of(data))
        except (Truncated, ConnectionResetError):
            return None

    def judge(self, name, data, accepted):
        with self.weir.connect() as client:
            client.send(data)
            if name in ENDS_EARLY:
                client.sock.shutdown(socket.SHUT_WR)
            response = self.outcome(client, data)
            status = "close" if response is None else str(response.status)
            self.assertTrue(is_accepted(status, accepted), f"{status}, not one of {accepted}")
            if response is None:
                return
            self.assertIn("Date", response.fields)
            self.assertEqual([], [r for r in response.interim if "!1xx" in accepted])
            if name in ENDS_EARLY or response.fields.has_token("Connection", "close"):
                self.assertTrue(client.is_gone())
            else:
                self.assertNotIn("2xx+close", accepted)
                self.assert_nothing_is_left(client, f"/after/{name}")

    def assert_nothing_is_left(self, client, target):
        """The next request on the connection is answered by its own answer."""
        after = client.request("POST", target, body=AFTER)
        self.assertEqual((after.status, after.body), (200, AFTER))
        # Not the last one: the rest of an earlier row, whose client has gone, may arrive later.
        self.assertIn(target, [request.target for request in self.up.requests])

    def test_the_table_is_whole(self):
        self.assertEqual(len(self.rows), COUNT)
        self.assertEqual(len({name for name, _, _ in self.rows}), COUNT)
        self.assertLessEqual(ENDS_EARLY, {name for name, _, _ in self.rows})

    def test_every_row_is_answered_as_one_of_its_right_answers(self):
        authority = f"127.0.0.1:{self.weir.port}".encode()
        for name, data, accepted in vectors(authority):
            with self.subTest(name):
                self.judge(name, data, accepted)
