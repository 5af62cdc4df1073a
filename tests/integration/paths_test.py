"""No spelling of a path leads past the limits of a route: what real services take as the path is
matched too.
"""

import os
import random

from harness import web_services
from harness.case import Case, configuration, scaled
from harness.limit_fields import limit_fields

PLENTY = {"algorithm": "fixed_window", "rate": "1000000/1h"}


def routes(*patterns, upstream=None, **settings):
    """A route for each pattern, with a policy of the same name, and its answer or the upstream."""
    action = {"upstream": "main"} if upstream else {"respond": {"status": 200}}
    return [{"match": {"path": pattern}, "limits": [{"policy": pattern}], **action, **settings}
            for pattern in patterns]


def policies(*patterns):
    return {pattern: PLENTY for pattern in patterns}


def charged(response):
    return set(limit_fields(response).state) if response.status == 200 else response.status


class Spellings(Case):
    PATTERNS = ("/api/**", "/login", "/users/{id}", "/**")

    def begin(self, **sections):
        self.client = self.connect(self.start(configuration(
            policies=policies(*self.PATTERNS), **{"routes": routes(*self.PATTERNS), **sections})))

    def assert_charged(self, target, expected):
        self.assertEqual(charged(self.client.request("POST", target)), expected, target)

    def test_escapes_are_decoded(self):
        self.begin()
        self.assert_charged("/%61pi/items", {"/api/**"})
        self.assert_charged("/log%69n", {"/login"})
        self.assert_charged("/x%3Fy", {"/**"})

    def test_both_readings_of_a_difference_are_charged(self):
        self.begin()
        for target in ["/login/", "/LOGIN", "/login;v=1", "/x/..;/login"]:
            self.assert_charged(target, {"/login", "/**"})
        for target in ["//login", "/x/../login", "/./login"]:
            self.assert_charged(target, {"/login", "/**"})
        for target in ["//host/login", "/login%3Fx", "/login%3Bx", "/x//../login"]:
            self.assert_charged(target, {"/login", "/**"})
        self.assert_charged("/API/x", {"/api/**", "/**"})
        self.assert_charged("/api/X//y/", {"/api/**"})

    def test_a_structure_that_depends_on_decoding_is_refused(self):
        self.begin()
        for target in ["/api%2fitems", "/api%5citems", "/x/%2e%2e/login", "/login%00", "/login%0a",
                       "/%256cogin", "/a%252fb", "/%%36%31"]:
            self.assert_problem(self.client.request("POST", target), 400)
        self.assertEqual(self.client.get("/a?x=%2f%00").status, 200)

    def test_differences_can_be_left_to_the_normal_form(self):
        self.begin(paths={"also_match": ["parameters"]})
        for target in ["/login/", "/LOGIN"]:
            self.assert_charged(target, {"/**"})
        self.assert_charged("//login", {"/login"})
        self.assert_charged("/login;v=1", {"/login", "/**"})

    def test_a_semicolon_may_begin_the_query(self):
        service = web_services.Fastify()
        self.addCleanup(service.stop)
        self.client = self.connect(self.start(configuration(
            service.url, policies={"login": {"algorithm": "fixed_window", "rate": "1/1h"}},
            routes=[{"match": {"path": "/login"}, "upstream": "main",
                     "limits": [{"policy": "login"}]}, {"upstream": "main"}])))
        self.assertEqual(self.client.get("/login").status, 200)
        for target in ["/login;x", "/login;/x", "/login;x/y", "/login;a=1/../b", "/login;/..",
                       "/%6cogin;/x", "//login;/x;y", "/a/../login;/x/", "/LOGIN;/X"]:
            self.assertIn(service.read(target=target)["decoded_path"].lower(),
                          ("/login", "//login", "/a/../login"))
            self.assert_problem(self.client.get(target), 429)
        self.assertEqual(self.client.get("/other;/login").status, 200)

    def test_an_identity_in_the_path_is_charged_in_both_readings(self):
        self.client = self.connect(self.start(configuration(
            identities={"id": {"path": "id"}},
            policies={"each": {"algorithm": "fixed_window", "rate": "2/1h"}},
            routes=[{"match": {"path": "/users/{id}"}, "respond": {},
                     "limits": [{"policy": "each", "key": "id"}]}])))
        for target in ["/users/7;v=1", "/users/%37;v=2"]:
            self.assertEqual(self.client.get(target).status, 200)
        for target in ["/users/7", "/users/7;v=3"]:
            self.assert_problem(self.client.get(target), 429)

    def test_a_route_that_refuses_is_not_passed_by_another_spelling(self):
        upstream = self.upstream()
        self.client = self.connect(self.start(configuration(
            upstream.url, routes=[
                {"match": {"path": "/internal/**"}, "respond": {"status": 403}},
                {"match": {"path": "/healthz"}, "respond": {"status": 200}},
                {"upstream": "main"}])))
        for target in ["/internal/x", "/Internal/x", "/internal;v=1/x", "/a/..;/internal/x",
                       "//internal/x", "//host/internal/x", "/internal//../x", "/internal/../x"]:
            self.assertEqual(self.client.get(target).status, 403, target)
        self.assertEqual(self.client.get("/Healthz").status, 200)

    def test_a_limit_by_the_whole_path_counts_its_spellings_as_one(self):
        self.client = self.connect(self.start(configuration(
            identities={"path": {"path": {}}},
            policies={"each": {"algorithm": "fixed_window", "rate": "1/1h"}},
            routes=[{"respond": {}, "limits": [{"policy": "each", "key": "path"}]}])))
        self.assertEqual(self.client.get("/w/item").status, 200)
        for target in ["/w/item", "/w/Item", "/w/item/", "//w/item", "/w/item;x"]:
            self.assert_problem(self.client.get(target), 429)
        self.assertEqual(self.client.get("/w/other").status, 200)


class EncodedSlashes(Case):
    def begin(self):
        self.client = self.connect(self.start(configuration(
            policies=policies("/packages/{name}", "/packages/**", "/api/**", "/**"),
            routes=[*routes("/packages/{name}", "/packages/**", encoded_slashes="match_both"),
                    *routes("/api/**", "/**")])))

    def test_both_readings_are_matched(self):
        self.begin()
        response = self.client.get("/packages/@scope%2Fname")
        self.assertEqual(charged(response), {"/packages/{name}", "/packages/**"})
        self.assertEqual(charged(self.client.get("/packages/name")), {"/packages/{name}"})

    def test_a_pattern_may_have_an_encoded_slash(self):
        self.client = self.connect(self.start(configuration(
            policies=policies("/packages/a%2Fb", "/packages/**"),
            routes=routes("/packages/a%2Fb", "/packages/**", encoded_slashes="match_both"))))
        for target in ["/packages/a%2fb", "/packages/%61%2Fb"]:
            self.assertEqual(charged(self.client.get(target)), {"/packages/a%2Fb", "/packages/**"})
        self.assertEqual(charged(self.client.get("/packages/a/b")), {"/packages/**"})

    def test_a_double_encoding_passes_where_the_service_decodes_once(self):
        self.client = self.connect(self.start(configuration(
            policies=policies("/images/**", "/**"),
            routes=[*routes("/images/**", double_encoding="pass"), *routes("/**")])))
        self.assertEqual(charged(self.client.get("/images/a%2520b")), {"/images/**"})
        self.assert_problem(self.client.get("/a%2520b"), 400)

    def test_the_upstream_receives_the_path_as_it_was_sent(self):
        upstream = self.upstream(lambda exchange: exchange.answer(exchange.target.encode()))
        client = self.connect(self.start(configuration(
            upstream.url, routes=[{"upstream": "main", "encoded_slashes": "match_both"}])))
        for target in ["/a%2fb", "/%61;v=1//c", "/a/../B", "/caf%C3%A9"]:
            self.assertEqual(client.get(target).body.decode(), target)


class Decide(Case):
    def test_the_path_that_another_proxy_asks_about_is_read_alike(self):
        client = self.connect(self.start(configuration(
            client_address={"trusted_proxies": ["127.0.0.0/8"]},
            policies=policies("/login", "/**"),
            routes=[{"match": {"path": pattern}, "decide": True, "limits": [{"policy": pattern}]}
                    for pattern in ("/login", "/**")])))
        def ask(uri):
            return client.get("/", {"X-Original-URI": uri, "X-Original-Method": "GET"})
        self.assertEqual(charged(ask("/login/")), {"/login", "/**"})
        self.assertEqual(charged(ask("/log%69n")), {"/login"})
        self.assert_problem(ask("/x%2flogin"), 400)


def segments(path):
    return path.split("/")[1:]


def matches(pattern, path, folds, ignores_slash):
    """A second, simple implementation of patterns."""
    if folds:
        pattern, path = pattern.lower(), path.lower()
    wanted, found = segments(pattern), segments(path)
    if ignores_slash and len(found) > 1 and found[-1] == "":
        found.pop()
    for i, segment in enumerate(wanted):
        if segment == "**":
            return True
        if i == len(found) or not (found[i] == segment or (segment == "*" and found[i])):
            return False
    return len(wanted) == len(found)


class RealServices(Case):
    """What node, gunicorn, uvicorn and php take as the path never reaches them under routes that the
    decoded path would not have matched."""

    PATTERNS = ("/api/items", "/api/*", "/api/**", "/login", "/**")
    PARTS = ("/", "/api", "/API", "/login", "/items", "/..", "/.", "//", ";v=1", "%2F", "%2f", "%5c",
             "%2e", "%61", "%41", "%25", "%3b", "%3F", "%23", "%20", "%00", "x", ".")

    def expected(self, path):
        """The routes that applications may choose by their settings, for one path."""
        return {next(p for p in self.PATTERNS if matches(p, path, folds, ignores_slash))
                for folds in (False, True) for ignores_slash in (False, True)}

    def test_random_spellings(self):
        seed = int(os.environ.get("WEIR_TEST_SEED") or random.randrange(2**32))
        for kind in (*web_services.ALL, web_services.Fastify):
            with self.subTest(kind.__name__, seed=seed):
                self.try_service(kind, random.Random(seed))

    def try_service(self, kind, chance):
        service = kind()
        self.addCleanup(service.stop)
        weir = self.start(configuration(
            f"http://127.0.0.1:{service.port}", policies=policies(*self.PATTERNS),
            routes=routes(*self.PATTERNS, upstream=True)))
        client = self.connect(weir)
        refused = 0
        for _ in range(scaled(600)):
            target = "/" + "".join(chance.choices(self.PARTS, k=chance.randint(1, 6))).lstrip("/")
            target = chance.choice(("", "/")) + target
            response = client.get(target)
            if response.status == 400:
                refused += 1
                continue
            self.assertEqual(response.status, 200, target)
            seen = response.json()
            for path in {seen["path"], seen["decoded_path"], *seen["parsed_paths"]}:
                if "%" in path and path != seen["decoded_path"]:
                    continue  # an application that decodes nothing sees other names, not other routes
                missing = self.expected(path) - charged(response)
                self.assertFalse(missing, f"{kind.__name__} reads {target} as {path}")
        self.assertGreater(scaled(600) - refused, scaled(600) // 10)
