"""Upstreams that take an upgrade, and what they do with the connection then."""


def switching(then, head):
    """Sends the head of a 101, or what `head(exchange)` returns, and leaves the connection to `then(exchange)`."""

    def behaviour(exchange):
        exchange.is_closed = True
        exchange.send(head(exchange) if callable(head) else head)
        then(exchange)

    return behaviour


def receive(exchange):
    """What the reader took too much of, then what the socket has; empty at the end."""
    if exchange.reader.buffer:
        data = bytes(exchange.reader.buffer)
        exchange.reader.buffer.clear()
        return data
    return exchange.sock.recv(65536)


def echo_bytes(exchange):
    while data := receive(exchange):
        exchange.send(data)
