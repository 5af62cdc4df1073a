"""What a reload answers, counts and logs, and what it applies."""

import hashlib
import os
import signal
import subprocess
import tempfile
import threading
import time

from harness.case import configuration, limited
from harness.client import request_bytes
from harness.exposition import labelled
from harness.reload_case import ADMIN, ReloadCase, copied
from harness.services import free_port, is_listening
from harness.upstream import answer
from harness.waiting import eventually
from harness.weir import binary


def fixed(body, **sections):
    return configuration(routes=[{"name": "all", "respond": {"body": body}}], **sections)


class Answer(ReloadCase):
    def test_200_says_what_has_changed_and_the_hash_of_the_file(self):
        self.serve(limited({"p": {"algorithm": "gcra", "rate": "10/1s"}}, [{"policy": "p"}]))
        changed = copied(self.weir.configuration)
        changed["policies"]["p"]["rate"] = "20/1s"
        changed["policies"]["q"] = {"algorithm": "gcra", "rate": "1/1s"}
        changed["routes"][0]["limits"].append({"policy": "q"})
        changed["downstream"] = {"max_head": "16KiB"}
        report = self.reload(changed, ["policies.p", "policies.q", "routes.all", "downstream"])
        self.assertEqual(report["restart_needed"], [])
        digest = hashlib.sha256(self.weir.file.read_bytes()).hexdigest()
        self.assertEqual(report["hash"], digest)
        self.assertEqual(labelled(self.scrape(), "weir_config_info", hash=digest), 1)
        self.assertIn("info POST /v1/reload: configuration reloaded; changed: ", self.weir.stderr)

    def test_many_changes_are_counted_and_not_all_listed(self):
        def routes(body):
            return [{"name": f"r{i}", "match": {"path": f"/{i}"}, "respond": {"body": body}}
                    for i in range(1_100)]

        config = configuration(routes=routes("x"))
        self.serve(config)
        report = self.reload({**config, "routes": routes("y")})
        self.assertEqual(report["changed"], [f"routes.r{i}" for i in range(100)])
        self.assertEqual(report["changed_omitted"], 1_000)
        self.assertIn(", routes.r99 and 1,000 more\n", self.weir.stderr)

    def test_nothing_has_changed(self):
        self.serve(fixed("x"))
        self.assertEqual(self.reload()["changed"], [])
        self.assertIn("nothing has changed", self.weir.stderr)

    def test_a_signal_during_the_start_waits_for_the_program_to_run(self):
        with tempfile.TemporaryDirectory() as directory:
            pipe = os.path.join(directory, "weir.yaml")
            os.mkfifo(pipe)
            weir = subprocess.Popen([binary(), "serve", "--config", pipe], stderr=subprocess.PIPE, text=True)
            self.addCleanup(weir.kill)
            with open(pipe, "w", encoding="utf-8") as configuration_file:  # it is being read now
                weir.send_signal(signal.SIGHUP)
                configuration_file.write("listen: [{address: '127.0.0.1:0'}]\n"
                                         "admin: {address: '127.0.0.1:0'}\n"
                                         "routes: [{respond: {status: 200}}]\n")
            for line in weir.stderr:  # the reload finds the pipe without a writer
                if "the running one stays as it is" in line:
                    break
            weir.terminate()
            self.assertEqual(weir.wait(), 0)
            weir.stderr.close()

    def test_a_file_that_became_a_pipe_is_422_and_blocks_no_signal(self):
        self.serve(fixed("x"))
        self.weir.file.unlink()
        os.mkfifo(self.weir.file)
        problems = self.reload_fails()
        self.assertEqual(len(problems), 1)
        self.assertIn("neither data nor its end arrived within 1000 ms", problems[0]["message"])
        with self.connect(self.weir) as client:
            self.assertEqual(client.request("GET", "/").body, b"x")
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(self.weir.wait(), 0)

    def test_422_lists_every_problem_with_its_place(self):
        self.serve(fixed("x"))
        self.write("policies:\n  p: {algorithm: gcra, rate: 10/1s, bursst: 20}\n"
                   "routes:\n  - {respond: {body: y}, limits: [{policy: q}]}\n"
                   "admin: {address: '127.0.0.1:0'}\n")
        problems = self.reload_fails()
        self.assertEqual([(p["line"], p["path"]) for p in problems],
                         [(2, "policies.p.bursst"), (4, "routes[0].limits[0].policy")])
        for problem in problems:
            self.assertEqual(problem["file"], str(self.weir.file))
            self.assertGreater(problem["column"], 0)
            line = (f"error POST /v1/reload: {problem['file']}:{problem['line']}:"
                    f"{problem['column']}: {problem['path']}: {problem['message']}")
            self.assertIn(line, self.weir.stderr)
        self.assertIn('did you mean "burst"?', problems[0]["message"])

    def test_a_bad_file_changes_nothing(self):
        self.serve(fixed("old"))
        client = self.connect(self.weir)
        before = self.scrape()
        for broken in ("", "routes: [", "listen: [{address: nonsense}]\nroutes: []\n"):
            self.write(broken)
            self.reload_fails()
        self.weir.file.unlink()
        problem, = self.reload_fails()
        self.assertEqual((problem["line"], problem["column"], problem["path"]), (None, None, ""))
        self.hang_up("failed")
        self.assertIn("error SIGHUP: ", self.weir.stderr)
        self.assertEqual(client.get("/").body, b"old")
        with self.weir.connect() as other:
            self.assertEqual(other.get("/").body, b"old")
        after = self.scrape()
        for name in "weir_config_info", "weir_config_loaded_timestamp_seconds":
            of = lambda samples: {k: v for k, v in samples.items() if k[0] == name}
            self.assertEqual(of(before), of(after))

    def test_reloads_are_counted_and_the_start_is_none(self):
        self.serve(fixed("x"))
        began_at = int(time.time())
        self.assertEqual((self.reloads("ok"), self.reloads("failed")), (0, 0))
        self.reload()
        self.hang_up()
        self.write("nonsense")
        self.reload_fails()
        self.assertEqual((self.reloads("ok"), self.reloads("failed")), (2, 1))
        loaded_at = labelled(self.scrape(), "weir_config_loaded_timestamp_seconds")
        self.assertGreaterEqual(loaded_at, began_at)
        self.assertLessEqual(loaded_at, int(time.time()))

    def test_it_needs_the_token_and_post(self):
        self.serve(fixed("old", admin={**ADMIN, "token": "open-sesame"}))
        new = fixed("new", admin={**ADMIN, "token": "other"})
        self.weir.write(new)
        self.assert_problem(self.post(), 401)
        self.assert_problem(self.post({"Authorization": "Bearer wrong"}), 401)
        allowed = {"Authorization": "Bearer open-sesame"}
        with self.connect_admin(self.weir) as admin:
            self.assertEqual(admin.get("/v1/reload", allowed).status, 200)
            self.assert_problem(admin.request("PUT", "/v1/reload", allowed), 405)
        client = self.connect(self.weir)
        self.assertEqual(client.get("/").body, b"old")
        response = self.post(allowed)
        self.assertEqual(response.status, 200)
        self.assertIn("admin", response.json()["changed"])
        self.assertEqual(client.get("/").body, b"new")
        # The new token counts from now on.
        self.assert_problem(self.post(allowed), 401)
        self.assertEqual(self.post({"Authorization": "Bearer other"}).status, 200)

    def test_a_page_of_another_origin_cannot_reload(self):
        self.serve(fixed("old"))
        self.write(fixed("new"))
        self.assert_problem(self.post({"Host": "evil.test"}), 403)
        self.assert_problem(self.post({"Origin": "http://evil.test"}), 403)
        self.assertEqual(self.connect(self.weir).get("/").body, b"old")

    def test_what_needs_a_restart_keeps_its_value_and_the_rest_applies(self):
        self.serve(limited({"p": {"algorithm": "fixed_window", "rate": "2/1h"}}, [{"policy": "p"}],
                           identity_secret="an-identity-secret-of-these-tests"))
        client = self.connect(self.weir)
        client.get("/")
        changed = copied(self.weir.configuration)
        changed.update(workers=2, identity_secret="another-identity-secret-of-these-tests",
                       store={"type": "redis", "redis": {"url": "redis://127.0.0.1:1"}})
        changed["routes"][0]["respond"]["body"] = "new"
        for _ in range(2):
            report = self.reload(changed)
            self.assertEqual(sorted(report["restart_needed"]),
                             ["identity_secret", "store.type", "workers"])
            self.assertIn("keeps its value until a restart: "
                          "workers, identity_secret, store.type", self.weir.stderr)
        self.assertEqual(report["changed"], [])
        response = client.get("/")
        self.assertEqual((response.status, response.body), (200, b"new"))
        self.assertEqual(client.get("/").status, 429)  # the same key in the same store

    def test_requests_for_a_reload_are_served_one_after_the_other(self):
        self.serve(fixed("x", workers=2))
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.post().status))
                   for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [200] * 16)
        self.assertEqual(self.reloads(), 16)

    def test_secrets_of_the_file_are_in_no_answer(self):
        config = fixed("x", admin={**ADMIN, "token": "${TOKEN}"})
        self.serve(config, environment={"TOKEN": "open-sesame"})
        allowed = {"Authorization": "Bearer open-sesame"}
        self.weir.write({**config, "downstream": {"max_head": "${TOKEN}"}})
        response = self.post(allowed)
        self.assertEqual(response.status, 422)
        self.assertNotIn("open-sesame", response.body.decode() + self.weir.stderr)


class WithoutAFile(ReloadCase):
    def test_sighup_reads_what_the_flags_refer_to_again(self):
        up = self.upstream(answer(b"fine"))
        self.weir = self.start(None, command=[
            "proxy", "--to", up.url, "--limit", "2/1h", "--listen", "127.0.0.1:0",
            "--admin", "127.0.0.1:0"])
        client = self.connect(self.weir)
        self.assertEqual(client.get("/").status, 200)
        self.hang_up()
        self.assertEqual(self.reload()["changed"], [])
        self.assertEqual(client.get("/").status, 200)
        self.assertEqual(client.get("/").status, 429)


class Applied(ReloadCase):
    """Settings that a reload changes, seen from outside."""

    def test_routes_and_answers_of_new_requests_on_old_connections(self):
        self.serve(fixed("old", workers=2))
        clients = [self.connect(self.weir) for _ in range(8)]
        for client in clients:
            self.assertEqual(client.get("/").body, b"old")
        self.reload(fixed("new", workers=2), ["routes.all"])
        for client in clients:
            self.assertEqual(client.get("/").body, b"new")

    def test_a_request_in_progress_keeps_its_configuration(self):
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)

        def behaviour(exchange):
            exchange.read_body()
            may_answer.wait()
            exchange.answer(b"late", fields=[("RateLimit-Limit", "of the service")])

        up = self.upstream(behaviour)
        policies = {"p": {"algorithm": "fixed_window", "rate": "5/1h"}}
        routes = [{"name": "old", "upstream": "main", "limits": [{"policy": "p"}]}]
        log = {"path": "access.log"}
        self.serve(configuration(up.url, policies=policies, routes=routes, access_log=log,
                                 identities={"client": {"client_address": {}}}))
        client = self.connect(self.weir)
        client.send(request_bytes("GET", "/"))
        up.await_requests(1)
        self.reload({**fixed("new"), "access_log": {"path": "other.log"}})
        with self.weir.connect() as other:
            self.assertEqual(other.get("/").body, b"new")
        may_answer.set()
        response = client.read()
        self.assertEqual((response.status, response.body), (200, b"late"))
        self.assertEqual(response["RateLimit-Limit"], "5")
        self.assertEqual(client.get("/").body, b"new")
        old, new = self.weir.directory / "access.log", self.weir.directory / "other.log"
        eventually(lambda: '"route":"old"' in old.read_text(), "its line is in the old log")
        eventually(lambda: new.read_text().count('"route":"all"') == 2, "the others in the new")
        self.assertNotIn('"route":"all"', old.read_text())

    def test_trusted_proxies_for_connections_that_are_open(self):
        up = self.upstream()
        config = configuration(up.url)
        self.serve(config)
        client = self.connect(self.weir)
        forwarded = {"X-Forwarded-For": "192.0.2.7"}
        client.get("/", forwarded)
        self.reload({**config, "client_address": {"trusted_proxies": ["127.0.0.0/8"]}},
                    ["client_address"])
        client.get("/", forwarded)
        self.reload(config)
        client.get("/", forwarded)
        self.assertEqual([r["X-Forwarded-For"] for r in up.requests],
                         ["127.0.0.1", "192.0.2.7, 127.0.0.1", "127.0.0.1"])

    def test_limits_towards_clients(self):
        self.serve(fixed("x"))
        client = self.connect(self.weir)
        field = {"X-Long": "x" * 2000}
        self.assertEqual(client.get("/", field).status, 200)
        self.reload(fixed("x", downstream={"max_head": 1024}), ["downstream"])
        self.assertEqual(client.get("/", field).status, 431)

    def test_the_bound_on_keys(self):
        config = limited({"p": {"algorithm": "fixed_window", "rate": "5/1h"}},
                         [{"policy": "p", "key": "key"}], {"key": {"header": "x-key"}},
                         store={"memory": {"max_keys": 1000}})
        self.serve(config)
        client = self.connect(self.weir)

        def ask(count):
            for i in range(count):
                self.assertEqual(client.get("/", {"X-Key": str(i)}).status, 200)
            return labelled(self.scrape(), "weir_memory_store_keys")

        self.assertEqual(ask(200), 200)
        self.reload({**config, "store": {"memory": {"max_keys": 100}}}, ["store.memory"])
        self.assertEqual(labelled(self.scrape(), "weir_memory_store_keys"), 200)
        self.assertLessEqual(ask(200), 200)
        for i in range(1000, 1300):
            client.get("/", {"X-Key": str(i)})
        self.assertEqual(labelled(self.scrape(), "weir_memory_store_keys"), 100)
        self.reload(config)
        self.assertGreaterEqual(ask(500), 500)

    def test_the_access_log_moves(self):
        self.serve(fixed("x", access_log={"path": "one.log"}))
        client = self.connect(self.weir)
        client.get("/one")
        self.reload(fixed("x", access_log={"path": "two.log", "format": "text"}), ["access_log"])
        client.get("/two")
        one, two = (self.weir.directory / name for name in ("one.log", "two.log"))
        eventually(lambda: '"/one"' in one.read_text(), "the first line")
        eventually(lambda: '"GET /two HTTP/1.1"' in two.read_text(), "the second line")
        two.rename(two.with_suffix(".old"))
        self.weir.signal(signal.SIGUSR1)
        eventually(two.exists, "the new file is reopened")
        problem, = self.reload_fails(fixed("x", access_log={"path": "no/such/directory"}))
        self.assertEqual(problem["path"], "access_log.path")
        self.reload(fixed("x"))
        self.assertEqual(client.get("/").status, 200)

    def test_the_admin_server_moves(self):
        first, second = free_port(), free_port()
        self.serve(fixed("x", admin={"address": f"127.0.0.1:{first}"}))
        with self.connect_admin(self.weir) as admin:
            self.weir.write(fixed("x", admin={"address": f"127.0.0.1:{second}"}))
            self.assertEqual(admin.request("POST", "/v1/reload").status, 200)
            # The answer comes on the connection that asked, and the connection stays.
            self.assertEqual(admin.get("/healthz").status, 200)
            self.weir.admin_address = ("127.0.0.1", second)
            self.assertEqual(self.reloads(), 1)
            eventually(lambda: not is_listening(first), "nobody listens there any more")
        self.weir.write(fixed("x", admin="off"))
        self.assertEqual(self.post().status, 200)
        eventually(lambda: not is_listening(second), "nobody listens there any more")
        self.weir.write(fixed("x", admin={"address": f"127.0.0.1:{first}"}))
        self.weir.signal(signal.SIGHUP)
        eventually(lambda: is_listening(first), "it is back")
        self.weir.admin_address = ("127.0.0.1", first)
        self.await_reloads(3)

    def test_an_admin_address_in_use_is_a_problem(self):
        self.serve(fixed("old"))
        taken = self.upstream().port
        self.weir.write(fixed("new", admin={"address": f"127.0.0.1:{taken}"}))
        problem, = self.reload_fails()
        self.assertEqual(problem["path"], "admin.address")
        self.assertIn("in use", problem["message"])
        self.assertEqual(self.connect(self.weir).get("/").body, b"old")

    def test_shutdown_timeout(self):
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)
        up = self.upstream(lambda exchange: may_answer.wait())
        config = configuration(up.url, shutdown_timeout="10m")
        self.serve(config)
        self.reload({**config, "shutdown_timeout": "1s"}, ["shutdown_timeout"])
        client = self.connect(self.weir)
        client.send(request_bytes("GET", "/"))
        up.await_requests(1)
        self.weir.signal(signal.SIGTERM)
        self.assertEqual(self.weir.wait(), 0)


class Ending(ReloadCase):
    def test_a_reload_while_it_drains_is_refused(self):
        up, may_answer = self.late_upstream()
        self.serve(configuration(up.url, shutdown_timeout="10m"))
        client = self.connect(self.weir)
        client.send(request_bytes("GET", "/"))
        up.await_requests(1)
        self.weir.signal(signal.SIGTERM)
        eventually(lambda: "draining" in self.weir.stderr, "it drains")
        self.assert_problem(self.post(), 503, "draining")
        self.weir.signal(signal.SIGHUP)
        may_answer.set()
        self.assertEqual(client.read().body, b"late")
        self.assertEqual(self.weir.wait(), 0)

    def test_a_reload_just_before_the_end(self):
        for _ in range(20):
            weir = self.start(fixed("x", workers=2))
            for _ in range(3):
                os.kill(weir.pid, signal.SIGHUP)
            weir.signal(signal.SIGTERM)
            self.assertEqual(weir.wait(), 0)
