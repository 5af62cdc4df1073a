"""The stream of /v1/status/events."""

import json

from .client import request_bytes
from .waiting import eventually


class Events:
    """An open stream."""

    def __init__(self, connection, fields=()):
        connection.send(request_bytes("GET", "/v1/status/events", fields, host=connection.host))
        self.head = connection.read_head()
        self._reader = connection.reader

    def next(self):
        """The next event; None at the end of the stream."""
        while (end := self._reader.buffer.find(b"\n\n")) < 0:
            if not self._reader.fill():
                return None
        event = bytes(self._reader.buffer[:end])
        del self._reader.buffer[:end + 2]
        return json.loads(event.removeprefix(b"data: "))

    def await_event(self, condition):
        return eventually(lambda: condition(event := self.next()) and event, "an event as expected")
