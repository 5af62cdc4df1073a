"""The test case with several servers behind one upstream."""

import collections

from .case import Case, configuration
from .exposition import labelled, parse


def named(name):
    """Answers with its name, on every path."""

    def behaviour(exchange):
        exchange.read_body()
        exchange.answer(name.encode())

    return behaviour


class Group(Case):
    def group(self, *upstreams, weights=(), environment=None, **sections):
        """Weir before these servers."""
        servers = [{"url": upstream if isinstance(upstream, str) else upstream.url}
                   for upstream in upstreams]
        for server, weight in zip(servers, weights):
            server["weight"] = weight
        main = {"servers": servers, **sections.pop("main", {})}
        return self.start(configuration(upstreams={"main": main}, routes=[{"upstream": "main"}],
                                        admin={"address": "127.0.0.1:0"}, **sections),
                          environment=environment)

    def pair(self, one=named("one"), two=named("two"), **sections):
        one, two = self.upstream(one), self.upstream(two)
        return one, two, self.group(one, two, **sections)

    def up(self, weir, upstream):
        with weir.connect_admin() as admin:
            samples = parse(admin.get("/metrics").body.decode())
        return labelled(samples, "weir_upstream_server_up", upstream="main",
                        server=upstream.url.removeprefix("http://"))

    def answers(self, client, count):
        """Who answered, of so many requests."""
        seen = collections.Counter()
        for _ in range(count):
            response = client.get("/")
            seen[response.body.decode() if response.status == 200 else response.status] += 1
        return seen
