"""Who a request is counted for."""

from harness.case import Case, limited
from harness.issuers import SECRET, signed

ONE = {"p": {"algorithm": "fixed_window", "rate": "1/1h"}}


class IdentityCase(Case):
    def begin(self, source, otherwise=None, required=False, **sections):
        limit = {"policy": "p", "key": "who"}
        if otherwise:
            limit["otherwise"] = otherwise
        if required:
            limit["required"] = True
        self.client = self.connect(self.start(limited(ONE, [limit], {"who": source}, **sections)))

    def assert_counted_together(self, *requests):
        self.assert_statuses(requests, [200] + [429] * (len(requests) - 1))

    def assert_counted_apart(self, *requests):
        self.assert_statuses(requests, [200] * len(requests))
        self.assert_statuses(requests, [429] * len(requests))

    def assert_not_counted(self, *requests):
        self.assert_statuses(requests * 3, [200] * (3 * len(requests)))

    def assert_statuses(self, requests, expected):
        statuses = []
        for request in requests:
            target, fields = request if isinstance(request, tuple) else (request, {})
            response = self.client.get(target, fields)
            statuses.append(response.status)
        self.assertEqual(statuses, expected, requests)


def header(name, value, target="/"):
    return target, {name: value}


class Sources(IdentityCase):
    def test_header(self):
        self.begin({"header": "x-api-key"})
        self.assert_not_counted("/")
        self.assert_counted_apart(header("X-Api-Key", "a"), header("X-Api-Key", "A"),
                                  header("x-api-key", "b"))
        self.assert_counted_together(header("X-API-KEY", "c"),
                                     header("x-api-key", "c", "/elsewhere"))

    def test_a_header_that_says_who_is_asking_twice_is_refused(self):
        self.begin({"header": "x-api-key"})
        for values in [("a", "b"), ("a", "a")]:
            response = self.client.get("/", [("X-Api-Key", values[0]), ("x-api-key", values[1])])
            self.assert_problem(response, 400)
        self.assert_counted_together(header("X-Api-Key", "a"), header("X-Api-Key", "a"))

    def test_query(self):
        self.begin({"query": "key"})
        self.assert_not_counted("/?other=1", "/", "/?xkey=1")
        self.assert_counted_apart("/?key=a", "/?x=y&key=b", "/?key=c&x=y")
        self.assert_counted_together("/?key=d", "/other?key=d", "/?key=%64")

    def test_cookie(self):
        self.begin({"cookie": "session"})
        self.assert_not_counted("/", header("Cookie", "other=1"), header("Cookie", "xsession=1"))
        self.assert_counted_apart(header("Cookie", "session=a"), header("Cookie", "x=y; session=b"))
        self.assert_counted_together(header("Cookie", "session=c; x=1"),
                                     header("Cookie", "x=2; session=c"))

    def test_the_whole_path(self):
        self.begin({"path": {}})
        self.assert_counted_apart("/a", "/b", "/a/b")
        self.assert_counted_together("/c", "/c?query=is-no-part")

    def test_a_segment_of_the_path(self):
        route = {"match": {"path": "/users/{id}"}, "respond": {"body": "x"},
                 "limits": [{"policy": "p", "key": "who"}]}
        self.begin({"path": "id"}, routes=[route])
        self.assert_counted_apart("/users/1", "/users/2")
        self.assert_counted_together("/users/3", "/users/3?x=y")

    def test_a_claim_of_a_token(self):
        self.begin({"jwt": {"provider": "idp", "claim": "sub"}},
                   jwt_providers={"idp": {"algorithms": ["HS256"], "secret": SECRET}})

        def bearer(subject):
            return header("Authorization", "Bearer " + signed({"sub": subject, "exp": 4_000_000_000}))

        self.assert_not_counted("/", header("Authorization", "Basic YTpi"))
        self.assert_counted_apart(bearer("a"), bearer("b"))
        self.assert_counted_together(bearer("c"), bearer("c"))

    def test_any_of_takes_the_first_that_is_there(self):
        self.begin({"any_of": [{"header": "x-api-key"}, {"query": "api_key"}]})
        self.assert_not_counted("/")
        self.assert_statuses([header("X-Api-Key", "a", "/?api_key=b")], [200])
        self.assert_statuses([header("X-Api-Key", "a"), header("X-Api-Key", "a", "/?api_key=c")],
                             [429, 429])
        self.assert_statuses(["/?api_key=b"], [200])

    def test_all_of_needs_all(self):
        self.begin({"all_of": [{"header": "x-tenant"}, {"path": {}}]})
        self.assert_not_counted("/")
        self.assert_counted_apart(header("X-Tenant", "a", "/1"), header("X-Tenant", "a", "/2"),
                                  header("X-Tenant", "b", "/1"))

    def test_otherwise_takes_over_when_the_first_is_absent(self):
        self.begin({"header": "x-api-key"}, otherwise="client")
        self.assert_counted_apart(header("X-Api-Key", "a"), header("X-Api-Key", "b"), "/")
        self.assert_counted_together(header("X-Api-Key", "c"), header("X-Api-Key", "c"))

    def test_required_answers_401(self):
        self.begin({"header": "x-api-key"}, required=True)
        for _ in range(3):
            response = self.client.get("/")
            self.assert_problem(response, 401)
            self.assertEqual(response["WWW-Authenticate"], "ApiKey")
        self.assert_counted_together(header("X-Api-Key", "a"), header("X-Api-Key", "a"))

    def test_connection_cannot_take_the_identity_away_pitfall_20(self):
        self.begin({"header": "x-api-key"})
        stripped = ("/", {"X-Api-Key": "a", "Connection": "x-api-key"})
        self.assert_counted_together(stripped, stripped, header("X-Api-Key", "a"))


class ClientAddress(IdentityCase):
    TRUSTED = {"trusted_proxies": ["127.0.0.0/8", "10.0.0.0/8"]}

    def begin_with(self, **settings):
        self.begin({"client_address": {}}, client_address={**self.TRUSTED, **settings})

    def came_by(self, *lines, name="X-Forwarded-For"):
        return "/", [(name, line) for line in lines]

    def test_the_word_of_an_untrusted_peer_does_not_count_pitfall_19(self):
        self.begin({"client_address": {}})
        self.assert_counted_together("/", self.came_by("198.51.100.1"),
                                     self.came_by("198.51.100.2"))

    def test_the_word_of_a_trusted_peer_counts(self):
        self.begin_with()
        self.assert_counted_apart("/", self.came_by("198.51.100.1"), self.came_by("198.51.100.2"))

    def test_addresses_are_compared_by_bits_not_by_notation_pitfall_18(self):
        self.begin_with()
        self.assert_counted_together(
            self.came_by("198.51.100.1"), self.came_by("::ffff:198.51.100.1"),
            self.came_by("::ffff:c633:6401"),
            self.came_by("198.51.100.1:4711"), self.came_by("[::ffff:198.51.100.1]:4711"))
        self.assert_counted_apart(self.came_by("::ffff:198.51.100.3"),
                                  self.came_by("::ffff:198.51.100.4"))

    def test_a_network_of_ipv6_is_one_client_pitfall_18(self):
        self.begin_with()
        self.assert_counted_together(self.came_by("2001:db8:1:2::1"),
                                     self.came_by("2001:db8:1:2:ffff::9"),
                                     self.came_by("[2001:DB8:1:2::3]:443"))
        self.assert_counted_apart(self.came_by("2001:db8:1:3::1"), self.came_by("2001:db8:1:4::1"))

    def test_prefixes_are_configured(self):
        self.begin_with(ipv4_prefix=24, ipv6_prefix=48)
        self.assert_counted_together(self.came_by("198.51.100.1"), self.came_by("198.51.100.200"))
        self.assert_counted_together(self.came_by("2001:db8:1:2::1"),
                                     self.came_by("2001:db8:1:3::1"))

    def test_forwarded(self):
        self.begin_with(header="forwarded")

        def by(value):
            return self.came_by(value, name="Forwarded")

        self.assert_counted_together(by("for=198.51.100.1"),
                                     by("for=203.0.113.1, for=198.51.100.1;by=x"))
        self.assert_counted_together("/", self.came_by("198.51.100.9"))

    def test_a_single_address_header(self):
        self.begin_with(header="x-real-ip")
        self.assert_counted_together(self.came_by("198.51.100.1", name="X-Real-IP"),
                                     self.came_by("198.51.100.1", name="X-Real-IP"))
        self.assert_counted_apart(self.came_by("198.51.100.2", name="X-Real-IP"),
                                  self.came_by("198.51.100.9"))
