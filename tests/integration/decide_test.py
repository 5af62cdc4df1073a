"""Routes that decide for another proxy: asked directly, and by nginx with the files of deploy/."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness.case import Case, configuration
from harness.client import Connection
from harness.limit_fields import limit_fields
from harness.services import free_port, is_listening
from harness.upstream import Upstream
from harness.waiting import eventually
from harness.weir import binary

DEPLOY = Path(__file__).resolve().parents[2] / "deploy" / "nginx"


def window(rate):
    return {"algorithm": "fixed_window", "rate": rate}


ROUTES = [
    {"name": "search", "match": {"path": "/v1/search", "methods": ["POST"]}, "decide": True,
     "limits": [{"policy": "search"}]},
    {"name": "served", "match": {"path": "/fixed"}, "respond": {"status": 200, "body": "here"}},
    {"name": "rest", "match": {"path": "/**"}, "decide": True, "limits": [{"policy": "rest"}]},
]


class Asked(Case):
    def begin(self, **sections):
        self.weir = self.start(configuration(
            policies={"search": window("1/1h"), "rest": window("5/1h")}, routes=ROUTES,
            **{"client_address": {"trusted_proxies": ["127.0.0.0/8"]}, **sections}))
        self.client = self.connect(self.weir)

    def ask(self, *fields, method="GET", target="/ask"):
        return self.client.request(method, target, fields=list(fields))

    def test_the_original_request_finds_the_route(self):
        self.begin()
        about = (("X-Original-Method", "POST"), ("X-Original-URI", "/v1/search?q=a"))
        first, second = self.ask(*about), self.ask(*about)
        self.assertEqual((first.status, first.body), (200, b""))
        self.assertEqual(set(limit_fields(first).state), {"search"})
        self.assert_problem(second, 429)
        self.assertIn("Retry-After", second.fields)
        # Another spelling is the same route, another method is not.
        self.assertEqual(self.ask(about[0], ("X-Original-URI", "/v1/./search")).status, 429)
        self.assertEqual(self.ask(("X-Original-Method", "GET"), about[1]).status, 200)

    def test_other_routes_see_the_request_as_it_came(self):
        self.begin()
        self.assertEqual(self.ask(("X-Original-URI", "/v1"), target="/fixed").body, b"here")

    def test_without_the_fields_it_is_asked_about_itself(self):
        self.begin()
        self.assertEqual(self.ask(method="POST", target="/v1/search").status, 200)
        self.assertEqual(self.ask(method="POST", target="/v1/search").status, 429)

    def test_a_stranger_can_not_speak_for_another_request(self):
        self.begin(client_address={})
        about = (("X-Original-Method", "POST"), ("X-Original-URI", "/v1/search"))
        self.assertEqual(set(limit_fields(self.ask(*about)).state), {"rest"})

    def test_two_answers_to_one_question_are_refused(self):
        self.begin()
        answer = self.ask(("X-Original-URI", "/v1"), ("X-Forwarded-Uri", "/v2"))
        self.assert_problem(answer, 400)


class Files(Case):
    def test_the_configuration_in_deploy_is_one(self):
        checked = subprocess.run([binary(), "check", str(DEPLOY / "weir.yaml")],
                                 capture_output=True, text=True, check=False)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)


class BehindNginx(Case):
    def setUp(self):
        self.api = Upstream(lambda exchange: exchange.answer(b"api"))
        self.addCleanup(self.api.stop)
        self.weir = self.start(configuration(
            policies={"search": window("1/1h"), "rest": window("2/1h")}, routes=ROUTES,
            client_address={"trusted_proxies": ["127.0.0.0/8"]}))
        self.port = free_port()
        site = (DEPLOY / "weir.conf").read_text(encoding="utf-8")
        for written, here in (("127.0.0.1:8080", "%s:%d" % self.weir.address),
                              ("127.0.0.1:8000", f"127.0.0.1:{self.port}"),
                              ("http://127.0.0.1:3000", self.api.url)):
            self.assertIn(written, site)
            site = site.replace(written, here)
        directory = tempfile.TemporaryDirectory(prefix="weir-nginx-")
        self.addCleanup(directory.cleanup)
        root = Path(directory.name)
        (root / "nginx.conf").write_text(
            f"daemon off; pid {root}/pid; worker_processes 1; events {{}}\n"
            f"http {{ access_log off; client_body_temp_path {root}/b; proxy_temp_path {root}/p;\n"
            f"fastcgi_temp_path {root}/f; uwsgi_temp_path {root}/u; scgi_temp_path {root}/s;\n"
            f"{site} }}\n", encoding="utf-8")
        program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        nginx = subprocess.Popen([program, "-p", str(root), "-c", str(root / "nginx.conf"),
                                  "-e", "stderr"], stdin=subprocess.DEVNULL, stderr=sys.stderr)
        self.addCleanup(nginx.wait)
        self.addCleanup(nginx.terminate)
        eventually(lambda: is_listening(self.port), "nginx is listening")

    def get(self, *fields, method="GET", target="/a"):
        with Connection(("127.0.0.1", self.port)) as client:
            return client.request(method, target, fields=list(fields))

    def test_nginx_serves_what_weir_allows_and_says_429_otherwise(self):
        answers = [self.get() for _ in range(3)]
        self.assertEqual([answer.status for answer in answers], [200, 200, 429])
        self.assertEqual(answers[0].body, b"api")
        self.assertEqual(limit_fields(answers[1]).state["rest"]["r"], 0)
        self.assertGreater(limit_fields(answers[2]).retry_after, 3000)
        self.assertEqual(len(self.api.requests), 2)
        self.assertEqual(self.get(method="POST", target="/v1/search").status, 200)
        self.assertEqual(self.get(method="POST", target="/v1/search").status, 429)

    def test_a_client_can_not_name_another_request(self):
        cheap = (("X-Forwarded-Uri", "/a"), ("X-Original-URI", "/a"), ("X-Original-Method", "GET"))
        statuses = [self.get(*cheap, method="POST", target="/v1/search").status for _ in range(2)]
        self.assertEqual(statuses, [200, 429])
