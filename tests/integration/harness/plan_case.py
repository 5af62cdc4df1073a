"""A running instance with plans, and the numbers that its answers show."""

import json

from .case import limited
from .limit_fields import items
from .reload_case import ReloadCase
from .waiting import eventually

PROXIES = {"trusted_proxies": ["127.0.0.0/8"]}
API_KEY = {"api_key": {"header": "x-api-key"}}
POLICIES = {"p": {"algorithm": "fixed_window", "rate": "3/260d"},
            "q": {"algorithm": "gcra", "rate": "10/1h", "burst": 2}}
PLANS = {"free": {}, "gold": {"p": {"rate": "5/260d"}, "q": {"rate": "100/1h"}},
         "internal": {"p": "unlimited"}}
BY_HEADER = {"client_address": PROXIES, "plans": PLANS, "plan_from": [{"header": "x-plan"}]}


class PlanCase(ReloadCase):
    def begin(self, limits=({"policy": "p", "key": "api_key"},), policies=None, environment=None,
              **sections):
        sections.setdefault("access_log", {"path": "access.log"})
        sections = {**BY_HEADER, **sections}
        config = limited(policies or POLICIES, list(limits),
                         {**API_KEY, **sections.pop("identities", {})}, **sections)
        self.client = self.connect(self.serve(config, environment=environment))
        self.sent = 0

    def get(self, plan=None, key="a", fields=()):
        named = [("X-Plan", plan)] if plan is not None else []
        return self.client.request("GET", "/", [("X-Api-Key", key), *named, *fields])

    def policy_of(self, *arguments, **options):
        """The quota and the rest of each policy in the answer."""
        response = self.get(*arguments, **options)
        policies, state = (items(response[name] or "") for name in ("RateLimit-Policy", "RateLimit"))
        return {name: (policies[name]["q"], state[name]["r"]) for name in policies}

    def logged(self, count):
        file = self.weir.directory / "access.log"
        eventually(lambda: file.exists() and file.read_text().count("\n") >= count, "log lines")
        return [json.loads(line) for line in file.read_text().splitlines()]
