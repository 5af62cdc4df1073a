"""The pictures of the status page: screenshots.py DIRECTORY. script/screenshots builds what it needs and runs it."""

import contextlib
import pathlib
import random
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/integration"))

from harness.browser import Browser  # noqa: E402
from harness.issuers import pyjwt  # noqa: E402
from harness.key_server import KeyServer  # noqa: E402
from harness.redis import Redis  # noqa: E402
from harness.services import free_port  # noqa: E402
from harness.weir import Weir  # noqa: E402

CHART_S = 125
SEED = 7


def configuration(redis, api, gone, models, keys):
    def limited(name, path, upstream, *limits):
        return {"name": name, "match": {"path": path}, "upstream": upstream, "limits": list(limits)}

    return {
        "listen": [{"address": "127.0.0.1:0"}],
        "admin": {"address": "127.0.0.1:0"},
        "access_log": "off",
        "workers": 2,
        "identity_secret": "the secret of the pictures",
        "store": {"type": "redis", "redis": {"url": redis}},
        "upstreams": {"api": {"servers": [{"url": api}, {"url": gone}]}, "models": {"servers": [{"url": models}]}},
        "identities": {"client": {"client_address": {}}, "api_key": {"header": "x-api-key"},
                       "user": {"jwt": {"provider": "accounts", "claim": "sub"}}},
        "jwt_providers": {"accounts": {"algorithms": ["ES256"], "jwks": {"url": keys}, "on_invalid": "absent"}},
        "policies": {
            "per_key": {"algorithm": "gcra", "rate": "20/1s", "burst": 40},
            "per_user": {"algorithm": "sliding_window", "rate": "600/1m"},
            "logins": {"algorithm": "sliding_log", "rate": "5/1m", "count_rejected": True},
            "in_flight": {"algorithm": "concurrency", "limit": 6, "queue": 4, "max_wait": "1s"},
            "next_year": {"algorithm": "token_bucket", "rate": "12/1s", "burst": 15, "mode": "shadow"},
        },
        "routes": [
            limited("search", "/v1/search", "api", {"policy": "per_key", "key": "api_key"},
                    {"policy": "next_year", "key": "api_key"}),
            limited("login", "/login", "api", {"policy": "logins", "key": "api_key"}),
            limited("chat", "/slow", "models", {"policy": "in_flight", "key": "client"}),
            limited("items", "/v1/items/**", "api",
                    {"policy": "per_user", "key": "user", "otherwise": "api_key"}),
            {"name": "everything else", "match": {"path": "/**"}, "upstream": "api"},
        ],
    }


class Traffic:
    """Clients with a rhythm of their own, until stop()."""

    def __init__(self, weir):
        self._weir = weir
        self._stop = threading.Event()
        self._threads = []

    def add(self, name, target, pause_s):
        """`pause_s`: seconds since the start => seconds between two requests."""
        thread = threading.Thread(target=self._run, args=(name, target, pause_s))
        thread.start()
        self._threads.append(thread)

    def _run(self, name, target, pause_s):
        chance = random.Random(f"{SEED} {name}")
        started_at = time.monotonic()
        with self._weir.connect() as client:
            while not self._stop.wait(chance.expovariate(1 / pause_s(time.monotonic() - started_at))):
                client.get(target() if callable(target) else target, {"X-Api-Key": name})

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()


def start_clients(traffic):
    for number in range(8):
        traffic.add(f"customer-{number}", "/v1/search?q=gate", lambda _: 0.09)
        traffic.add(f"reader-{number}", f"/v1/items/{1 + number % 6}", lambda _: 0.05)
    # One that asks for more and more, and is denied.
    traffic.add("importer", "/v1/search?q=basin", lambda at: 0.02 if 40 < at < 90 else 0.045)
    traffic.add("guesser", "/login", lambda _: 0.7)
    traffic.add("visitor", "/login", lambda _: 15)
    for number in range(9):
        traffic.add(f"writer-{number}", "/slow?ms=180", lambda at: 0.1 if 60 < at % 90 < 75 else 0.35)
    traffic.add("crawler", "/status/503", lambda at: 0.3 if 70 < at < 80 else 4)


def service(stack):
    """The address of a demo service that runs until the stack ends."""
    process = subprocess.Popen([sys.executable, "-B", str(ROOT / "script/demo_upstream.py"), "0"],
                               stdout=subprocess.PIPE, text=True)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return "http://127.0.0.1:" + process.stdout.readline().split()[-1]


def main(directory):
    with contextlib.ExitStack() as stack:
        redis = Redis().start()
        stack.callback(redis.close)
        issuer = pyjwt()
        stack.callback(issuer.stop)
        keys = KeyServer(issuer.make_key("a", "ES256"))
        stack.callback(keys.stop)
        weir = Weir(configuration(redis.url, service(stack), f"http://127.0.0.1:{free_port()}", service(stack), keys.url))
        stack.callback(weir.stop)
        browser = Browser()
        stack.callback(browser.stop)
        url = "http://%s:%d/" % weir.admin_address
        pages = {"status-page": browser.open(url, height=760),
                 "status-page-dark": browser.open(url, height=760, dark=True),
                 "status-page-phone": browser.open(url, width=360, height=740)}
        traffic = Traffic(weir)
        stack.callback(traffic.stop)
        start_clients(traffic)
        time.sleep(CHART_S)
        for name, page in pages.items():
            file = directory / f"{name}.png"
            page.screenshot(file, full=False)
            print(f"{file}: {file.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
