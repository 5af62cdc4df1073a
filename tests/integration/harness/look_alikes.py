"""Requests that a service reads differently from what was sent, in front of real services."""

from .case import Case, configuration
from .client import Connection

ONE = {"p": {"algorithm": "fixed_window", "rate": "1/1h"}}
FROM_TRUSTED = {"trusted_proxies": ["127.0.0.0/8"]}


def limited_by(source, **sections):
    """Limits of one request for each client that `source` finds; more are 429."""
    return {"policies": ONE, "identities": {"who": source},
            "routes": [{"upstream": "main", "limits": [{"policy": "p", "key": "who"}]}], **sections}


class LookAlikes(Case):
    def behind(self, kind, **sections):
        service = kind()
        self.addCleanup(service.stop)
        self.weir = self.start(configuration(service.url, **sections))
        return service

    def send(self, method="GET", target="/", fields=(), **options):
        with Connection(self.weir.address) as client:
            return client.request(method, target, fields, **options)

    def assert_served(self, count=1, **request):
        for _ in range(count):
            response = self.send(**request)
            self.assertEqual(response.status, 200, request)
        return response.json()

    def assert_refused(self, detail, **request):
        self.assert_problem(self.send(**request), 400, detail)

    def assert_dodges_refused(self, detail, *requests):
        """Refused and not charged: the client that they name is admitted afterwards."""
        for request in requests:
            with self.subTest(request):
                self.assert_refused(detail, **request)
