"""Address lists: routes and limits that depend on the client's address, and files that change."""

import json
import os
import tempfile
from pathlib import Path

from harness.case import configuration, limited
from harness.exposition import labelled
from harness.preload import fast_clock
from harness.reload_case import ReloadCase
from harness.waiting import eventually
from harness.weir import run

PROXIES = {"trusted_proxies": ["127.0.0.0/8"]}
HOURLY = {"algorithm": "gcra", "rate": "1/1h", "burst": 1}
OFFICE = ["192.0.2.0/24", "2001:db8::/32"]


def respond(name, **match):
    return {"name": name, "match": match, "respond": {"status": 200, "body": name}}


class ListCase(ReloadCase):
    def begin(self, config, **options):
        self.client = self.connect(self.serve({"client_address": PROXIES, **config}, **options))

    def get(self, client, target="/", method="GET", fields=()):
        return self.client.request(method, target, [("X-Forwarded-For", client), *fields])


class Routes(ListCase):
    def test_the_first_route_whose_list_contains_the_client_takes_the_request(self):
        self.begin(configuration(
            address_lists={"office": OFFICE, "crawlers": ["192.0.2.7", "198.51.100.0/24"]},
            routes=[respond("internal", path="/internal/**", address="office"),
                    respond("crawler", address="crawlers"),
                    respond("post", methods=["POST"], address="office"),
                    respond("rest", path="/**")]))
        for client, target, method, taken in [
            ("192.0.2.7", "/internal/x", "GET", "internal"),
            ("2001:db8::1", "/internal/x", "GET", "internal"),
            ("203.0.113.1", "/internal/x", "GET", "rest"),
            ("192.0.2.7", "/", "GET", "crawler"),
            ("::ffff:192.0.2.7", "/", "GET", "crawler"),
            ("198.51.100.255", "/internal/x", "GET", "crawler"),
            ("192.0.2.8", "/", "GET", "rest"),
            ("192.0.2.8", "/", "POST", "post"),
        ]:
            with self.subTest(client=client, target=target, method=method):
                self.assertEqual(self.get(client, target, method).body, taken.encode())

    def test_without_a_route_for_the_client_it_is_404(self):
        self.begin(configuration(address_lists={"office": OFFICE},
                                 routes=[respond("office", address="office")]))
        self.assertEqual(self.get("192.0.2.1").status, 200)
        self.assert_problem(self.get("192.0.3.1"), 404)

    def test_a_client_cannot_choose_its_address(self):
        config = configuration(address_lists={"office": OFFICE},
                               routes=[respond("office", address="office")])
        self.client = self.connect(self.serve(config))
        self.assertEqual(self.get("192.0.2.1").status, 404)

    def test_a_route_that_decides_sees_the_same_client(self):
        self.begin(configuration(address_lists={"office": OFFICE},
                                 routes=[{"match": {"path": "/v1/**", "address": "office"},
                                          "decide": True}]))
        described = [("X-Original-URI", "/v1/x")]
        self.assertEqual(self.get("192.0.2.1", "/auth", fields=described).status, 200)
        self.assertEqual(self.get("192.0.3.1", "/auth", fields=described).status, 404)


class Conditions(ListCase):
    def limit_by(self, **conditions):
        self.begin(limited({"p": HOURLY}, [{"policy": "p", "key": "client", **conditions}],
                           identities={"user": {"header": "x-user"}, "session": {"cookie": "sid"}},
                           address_lists={"office": OFFICE}))

    def statuses(self, *arguments, **options):
        """Of two requests: of which the second is denied if they are limited."""
        return [self.get(*arguments, **options).status for _ in range(2)]

    def test_unless_address(self):
        self.limit_by(unless={"address": "office"})
        self.assertEqual(self.statuses("192.0.2.1"), [200, 200])
        self.assertEqual(self.statuses("192.0.3.1"), [200, 429])
        self.assertNotIn("RateLimit", self.get("192.0.2.1").fields)
        self.assertIn("RateLimit", self.get("192.0.3.1").fields)

    def test_when_address(self):
        self.limit_by(when={"address": "office"})
        self.assertEqual(self.statuses("192.0.2.1"), [200, 429])
        self.assertEqual(self.statuses("192.0.3.1"), [200, 200])

    def test_methods(self):
        self.limit_by(when={"methods": ["GET"]})
        self.assertEqual(self.statuses("192.0.2.1", method="POST"), [200, 200])
        self.assertEqual(self.statuses("192.0.2.1", method="HEAD"), [200, 429])

    def test_identity(self):
        self.limit_by(unless={"identity": "user"})
        self.assertEqual(self.statuses("192.0.2.1", fields=[("X-User", "a")]), [200, 200])
        self.assertEqual(self.statuses("192.0.2.1", fields=[("X-User", "")]), [200, 429])

    def test_all_that_is_named_must_hold(self):
        self.limit_by(unless={"address": "office", "methods": ["GET"], "identity": "user"})
        user = [("X-User", "a")]
        self.assertEqual(self.statuses("192.0.2.1", fields=user), [200, 200])
        self.assertEqual(self.statuses("192.0.2.2"), [200, 429])
        self.assertEqual(self.statuses("192.0.2.3", method="POST", fields=user), [200, 429])
        self.assertEqual(self.statuses("192.0.3.1", fields=user), [200, 429])

    def test_when_and_unless_together(self):
        self.limit_by(when={"address": "office"}, unless={"identity": "user"})
        self.assertEqual(self.statuses("192.0.2.1", fields=[("X-User", "a")]), [200, 200])
        self.assertEqual(self.statuses("192.0.2.1"), [200, 429])
        self.assertEqual(self.statuses("192.0.3.1"), [200, 200])

    def test_the_whole_address_counts(self):
        self.begin(limited({"p": HOURLY}, [{"policy": "p", "unless": {"address": "one"}}],
                           address_lists={"one": ["192.0.2.1", "2001:db8::1"]},
                           client_address={**PROXIES, "ipv4_prefix": 24, "ipv6_prefix": 32}))
        self.assertEqual(self.statuses("192.0.2.1"), [200, 200])
        self.assertEqual(self.statuses("2001:db8::1"), [200, 200])
        self.assertEqual(self.statuses("192.0.2.2"), [200, 429])
        self.assertEqual(self.statuses("2001:db8::2"), [200, 429])

    def test_a_condition_that_services_may_read_differently_is_400(self):
        self.limit_by(unless={"identity": "session"})
        self.assertEqual(self.statuses("192.0.2.1", fields=[("Cookie", "sid=a")]), [200, 200])
        self.assert_problem(self.get("192.0.2.1", fields=[("Cookie", "sid=a; sid=b")]), 400)


class Files(ListCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-lists-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.file = self.directory / "office.txt"

    def begin(self):
        """The file is checked every tenth of a second."""
        super().begin(configuration(address_lists={"office": {"file": str(self.file)}},
                                    routes=[respond("office", address="office"),
                                            respond("rest")]), environment=fast_clock(10))

    def taken(self, client):
        return self.get(client).body.decode()

    def await_taken(self, client, route):
        eventually(lambda: self.taken(client) == route, f"{client} is taken by {route}")

    def file_reloads(self, result):
        return labelled(self.scrape(), "weir_file_reloads_total", kind="address_list",
                        result=result)

    def test_a_file_that_changes_counts_without_a_reload(self):
        self.file.write_text("# ours\r\n192.0.2.0/24  # here\r\n\r\n2001:db8::/32\r\n")
        self.begin()
        self.assertEqual(self.taken("192.0.2.1"), "office")
        self.assertEqual(labelled(self.scrape(), "weir_address_list_prefixes", list="office"), 2)
        self.file.write_text("198.51.100.7\n")
        self.await_taken("198.51.100.7", "office")
        self.assertEqual(self.taken("192.0.2.1"), "rest")
        self.assertEqual(labelled(self.scrape(), "weir_address_list_prefixes", list="office"), 1)
        # Replaced as a whole, and through a link.
        new = self.directory / "new"
        new.write_text("192.0.2.9\n")
        new.rename(self.file)
        self.await_taken("192.0.2.9", "office")
        other = self.directory / "other"
        other.write_text("192.0.2.10\n")
        new.symlink_to(other)
        new.rename(self.file)
        self.await_taken("192.0.2.10", "office")
        eventually(lambda: self.file_reloads("ok") == 3, "three files are counted")
        self.assertEqual((self.file_reloads("failed"), self.reloads()), (0, 0))
        self.assertIn("info address list office: file read again, 1 prefix\n", self.weir.stderr)

    def test_the_last_good_content_stays(self):
        self.file.write_text("192.0.2.0/24\n")
        self.begin()
        self.file.write_text("198.51.100.0/24\ns3cr3t\n")
        eventually(lambda: self.file_reloads("failed") == 1, "a failure is counted")
        self.assertEqual(self.taken("192.0.2.1"), "office")
        self.assertEqual(self.taken("198.51.100.1"), "rest")
        self.assertIn(f'error address list office: file "{self.file}" line 2: expected an address',
                      self.weir.stderr)
        self.assertIn("the previous content stays in use, 1 prefix\n", self.weir.stderr)
        self.assertNotIn("s3cr3t", self.weir.stderr)
        # A bad file also keeps the running configuration.
        problems = self.reload_fails()
        self.assertEqual(problems[0]["path"], "address_lists.office.file")
        self.file.unlink()
        eventually(lambda: self.file_reloads("failed") == 2, "the missing file is counted")
        self.assertEqual(self.taken("192.0.2.1"), "office")
        self.file.write_text("")
        eventually(lambda: self.file_reloads("failed") == 3, "the empty file is counted")
        self.assertEqual(self.taken("192.0.2.1"), "office")
        self.assertEqual(self.weir.stderr.count("file is empty"), 1)
        self.file.write_text("198.51.100.0/24\n")
        self.await_taken("198.51.100.1", "office")
        self.assertEqual(self.taken("192.0.2.1"), "rest")
        self.file.write_text("# nobody\n")
        self.await_taken("198.51.100.1", "rest")

    def test_a_reload_reads_the_file_again_and_watches_the_new_one(self):
        self.file.write_text("192.0.2.0/24\n")
        self.begin()
        other = self.directory / "other.txt"
        other.write_text("198.51.100.0/24\n")
        config = {"client_address": PROXIES,
                  **configuration(address_lists={"office": {"file": str(other)}},
                                  routes=[respond("office", address="office"), respond("rest")])}
        self.reload(config, changed=["address_lists.office"])
        self.assertEqual(self.taken("198.51.100.1"), "office")
        self.reload(changed=[])
        other.write_text("203.0.113.0/24\n")
        self.await_taken("203.0.113.1", "office")

    def test_requests_continue_while_a_large_list_changes(self):
        lines = [f"10.{i >> 8 & 255}.{i & 255}.{i >> 16}" for i in range(100_000)]
        self.file.write_text("192.0.2.0/24\n" + "\n".join(lines))
        self.begin()
        for i in range(3):
            self.file.write_text(f"192.0.2.0/24\n203.0.113.{i}\n" + "\n".join(lines))
            seen = []
            eventually(lambda: seen.append(self.taken("192.0.2.1")) or
                       self.taken(f"203.0.113.{i}") == "office", "the new file counts")
            self.assertEqual(set(seen), {"office"})


class Check(ListCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-lists-")
        self.addCleanup(directory.cleanup)
        self.file = Path(directory.name) / "weir.yaml"
        self.list = Path(directory.name) / "office.txt"
        self.file.write_text(json.dumps({
            "address_lists": {"office": {"file": "office.txt"}, "home": ["192.0.2.7"]},
            "policies": {"p": HOURLY},
            "routes": [
                {"name": "a", "match": {"path": "/a", "address": "office"}, "respond": {}},
                {"name": "b", "respond": {}, "limits": [
                    {"policy": "p", "when": {"methods": ["GET"]}, "unless": {"address": "home"}},
                ]}]}))

    def test_a_bad_file_is_an_error_with_its_line(self):
        self.list.write_text("192.0.2.0/24\n\n192.0.2.1/24\n")
        for command in ["check", str(self.file)], ["serve", "--config", str(self.file)]:
            result = run(*command)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f'address_lists.office.file: file "{self.list}" line 3: expected an '
                          "address or a prefix whose host bits are zero", result.stdout + result.stderr)
        os.unlink(self.list)
        self.assertIn(f'cannot read file "{self.list}": No such file', run("check", str(self.file)).stdout)

    def test_check_shows_lists_and_conditions(self):
        self.list.write_text("192.0.2.0/24\n2001:db8::/32\n")
        shown = run("check", "--verbose", str(self.file)).stdout
        self.assertIn("address list office: 2 prefixes\naddress list home: 1 prefix\n", shown)
        self.assertIn("route a: any method path /a address in office\n", shown)
        self.assertIn("; when method GET; unless address in home", shown)

    def explain(self, *arguments):
        self.list.write_text("192.0.0.0/16\n192.0.2.0/24\n")
        result = run("explain", "--config", str(self.file), *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_explain_shows_the_list_and_the_prefix_of_a_route(self):
        found = json.loads(self.explain("--json", "--peer", "192.0.2.7", "http://h/a"))
        self.assertEqual(found["address"], {"list": "office", "prefix": "192.0.2.0/24"})
        self.assertIn("\n  address   in office, 192.0.2.0/24\n",
                      self.explain("--peer", "192.0.2.7", "http://h/a"))
        found = json.loads(self.explain("--json", "--peer", "198.51.100.1", "http://h/a"))
        self.assertNotIn("address", found)
        self.assertEqual(found["skipped"],
                         [{"route": "a", "because": "client address is not in office"}])

    def test_explain_shows_which_condition_let_a_limit_apply(self):
        def limit(*arguments):
            return json.loads(self.explain("--json", *arguments, "http://h/b"))["limits"][0]

        found = limit("--peer", "192.0.2.8")
        self.assertTrue(found["applies"])
        self.assertEqual(found["because"], "when: method is listed, "
                         "unless: client address is not in home; client is present")
        found = limit("--peer", "192.0.2.7")
        self.assertFalse(found["applies"])
        self.assertEqual(found["because"], "unless: client address is in home (192.0.2.7)")
        self.assertEqual(found["conditions"], [
            {"condition": "when", "holds": True, "because": "method is listed"},
            {"condition": "unless", "holds": True,
             "because": "client address is in home (192.0.2.7)",
             "address": {"list": "home", "prefix": "192.0.2.7"}}])
        self.assertIsNone(found["allowed"])
        found = limit("--peer", "192.0.2.8", "--method", "POST")
        self.assertEqual((found["applies"], found["because"]),
                         (False, "when: method is not listed"))
        self.assertIn("\n  applies   no: unless: client address is in home (192.0.2.7)\n",
                      self.explain("--peer", "192.0.2.7", "http://h/b"))

    def test_explain_does_not_show_a_prefix_from_a_variable(self):
        self.list.write_text("")
        self.file.write_text(json.dumps({"address_lists": {"home": ["${HOME_NET}"]},
                                         "routes": [{"match": {"address": "home"},
                                                     "respond": {}}]}))
        result = run("explain", "--config", str(self.file), "--json", "--peer", "192.0.2.7",
                     "http://h/", env={**os.environ, "HOME_NET": "192.0.2.0/24"})
        self.assertEqual(json.loads(result.stdout)["address"],
                         {"list": "home", "prefix": "(from the environment)"})
        self.assertNotIn("192.0.2.0/24", result.stdout)
