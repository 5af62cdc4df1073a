"""Raw bytes in, raw bytes out, on both sides of Weir."""

import re
from dataclasses import dataclass

from .case import Case, configuration
from .client import Truncated
from .message import Malformed

HOST = b"Host: weir.test\r\n"
OK = b"HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
FINE = OK + b"Content-Length: 2\r\n\r\nok"


def get(*lines, target=b"/", method=b"GET", version=b"1.1"):
    """A request with Host and these field lines."""
    head = method + b" " + target + b" HTTP/" + version + b"\r\n" + HOST
    return head + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


def post(*lines, body, target=b"/", method=b"POST", version=b"1.1"):
    """The same with a body, whose framing the lines declare."""
    return get(*lines, target=target, method=method, version=version) + body


def without_ids(data):
    """The bytes of answers without the line that differs each time, which request_id_test.py tests."""
    return re.sub(rb"X-Request-Id: [0-9a-f-]{36}\r\n", b"", bytes(data))


def values(data, name):
    """The values of a field in the first head of `data`, line by line."""
    lines = data.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]
    pairs = (line.partition(b":") for line in lines)
    return [value.strip() for key, _, value in pairs if key.lower() == name.lower()]


@dataclass
class Seen:
    """What one exchange put on the wires."""

    up: bytes       # from Weir to the upstream
    down: bytes     # from Weir to the client, without_ids()
    response: object  # the final answer, taken apart
    client: object

    def up_values(self, name):
        return values(self.up, name)

    def down_values(self, name):
        """Of the final answer."""
        return [value.encode("latin-1") for value in self.response.fields.all(name.decode())]

    @property
    def status(self):
        return self.response.status

    @property
    def line(self):
        return self.up.partition(b"\r\n")[0]

    @property
    def up_body(self):
        return self.up.partition(b"\r\n\r\n")[2]

    @property
    def down_body(self):
        return self.down.partition(b"\r\n\r\n")[2]


class WireCase(Case):
    """An upstream that answers with `self.answer`, byte for byte, and records what it is sent."""

    sections = {}

    def setUp(self):
        self.up_wire = bytearray()
        self.answer, self.closes = FINE, False
        self.up = self.upstream(self.behave, record=self.up_wire)
        self.weir = self.start(configuration(self.up.url, **self.sections))

    def behave(self, exchange):
        exchange.read_body()
        exchange.send(self.answer)
        if self.closes:
            exchange.close()

    def through(self, request, answer=None, closes=False, client=None):
        """Sends one request as it is and reads its answer."""
        if answer is not None:
            self.answer, self.closes = answer, closes
        client = client or self.recorded(self.weir)
        before, read_before = len(self.up_wire), len(client.reader.record)
        client.send(request)
        response = client.read(request.lstrip().partition(b" ")[0].decode("latin-1"))
        end = len(client.reader.record) - len(client.reader.buffer)
        return Seen(up=bytes(self.up_wire[before:]),
                    down=without_ids(client.reader.record[read_before:end]),
                    response=response, client=client)

    def recorded(self, weir):
        client = self.connect(weir)
        client.reader.record = bytearray()
        return client

    def assert_passed(self, request, **options):
        """The request is forwarded, answered and nothing of it is left on either connection."""
        seen = self.through(request, **options)
        self.assertEqual(seen.status, 200, seen.down)
        if not seen.response.fields.has_token("Connection", "close"):
            after = self.through(get(target=b"/after"), client=seen.client)
            self.assertEqual((after.status, after.line), (200, b"GET /after HTTP/1.1"))
        return seen

    def assert_refused(self, request, status=400, closes=True):
        """Weir answers by itself; not a byte reaches the upstream."""
        seen = self.through(request)
        self.assert_problem(seen.response, status)
        self.assertEqual((seen.up, seen.down[:13]), (b"", b"HTTP/1.1 %d " % status))
        if closes:
            self.assertEqual(seen.down_values(b"Connection"), [b"close"])
            self.assertTrue(seen.client.is_gone())
        return seen

    def assert_cut(self, request, answer, closes=True):
        """What the upstream sent is no whole answer, and the client can see that."""
        self.answer, self.closes = answer, closes
        client = self.recorded(self.weir)
        client.send(request)
        with self.assertRaises((Truncated, ConnectionResetError, Malformed)):
            client.read()
        return without_ids(client.reader.record)
