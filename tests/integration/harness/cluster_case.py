"""The base of the tests of a Redis Cluster."""

from .redis_case import RedisCase, answering, sharing

POLICIES = {"each": {"algorithm": "gcra", "rate": "50/26d"},
            "all": {"algorithm": "fixed_window", "rate": "300/26d"},
            "many": {"algorithm": "gcra", "rate": "300/26d"}}
ROUTES = [answering("/each", "each", "user"), answering("/all", "all", "group"), answering("/many", "many", "user"),
          {"name": "both", "match": {"path": "/both"}, "respond": {"status": 200, "body": "fine"},
           "limits": [{"policy": "each", "key": "user"}, {"policy": "all", "key": "group"}]}]
IDENTITIES = {"user": {"header": "x-user"}, "group": {"header": "x-group"}}


class ClusterCase(RedisCase):
    # Counts are exact only if no decision is late, also on a busy machine.
    timeout = "5s"

    def setUp(self):
        super().setUp()
        self.sent = 0

    def begin(self, cluster, url="redis://unused", routes=ROUTES, **redis):
        self.weir = self.start(sharing(url, POLICIES, identities=IDENTITIES, routes=routes,
                                       admin={"address": "127.0.0.1:0"},
                                       redis={"timeout": self.timeout, "connect_timeout": "2s", "replicas": 1,
                                              **cluster.store, **redis}))
        self.await_redis(self.weir)
        return self.weir

    def statuses(self, path, count, **headers):
        fields = [(f"x-{name}", value) for name, value in headers.items()]
        with self.connect(self.weir) as client:
            self.sent += count
            return [client.get(path, fields).status for _ in range(count)]

    def readiness(self):
        with self.connect_admin(self.weir) as client:
            return client.get("/readyz").body.decode().strip()

    def is_whole(self):
        body = self.readiness()
        return '"state":"ready"' in body and "degraded" not in body

    def changes(self):
        """The changes of the masters in the log."""
        return [line.partition("redis cluster: ")[2] for line in self.weir.stderr.splitlines()
                if "redis cluster: " in line]

    def stores(self, after=0):
        """The store of each request so far, except for the first ones."""
        return [line["store"] for line in self.log_lines(self.weir, self.sent)[after:]]
