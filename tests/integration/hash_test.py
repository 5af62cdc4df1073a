"""`weir hash` prints what the access log and the keys in Redis show."""

import json
import time

from harness.case import configuration
from harness.issuers import SECRET, signed
from harness.override_case import in_an_hour
from harness.redis_case import RedisCase, answering, sharing
from harness.weir import run

PROVIDERS = {"idp": {"algorithms": ["HS256"], "secret": SECRET}}
IDENTITIES = {
    "client": {"client_address": {}},
    "api_key": {"header": "X-Api-Key"},
    "login": {"header": "authorization"},
    "either": {"any_of": [{"header": "x-api-key"}, {"query": "api_key"}, {"cookie": "sid"}]},
    "user": {"jwt": {"provider": "idp", "claim": "sub"}},
    "account": {"jwt": {"provider": "idp", "claim": "account"}},
    "tenant_path": {"all_of": [{"header": "x-tenant"}, {"path": {}}]},
    "deep": {"all_of": [{"client_address": {}}, {"jwt": {"provider": "idp", "claim": "sub"}},
                        {"any_of": [{"header": "x-app"}, {"query": "app"}]}]},
    "segment": {"path": "id"},
}
POLICIES = {"p": {"algorithm": "fixed_window", "rate": "1000/1h"}}
CLIENT = {"trusted_proxies": ["127.0.0.0/8"], "ipv4_prefix": 24, "ipv6_prefix": 48}


def bearer(**claims):
    token = signed({"sub": "alice", "exp": int(time.time()) + 3600, **claims})
    return {"Authorization": f"Bearer {token}"}


class Hash(RedisCase):
    def begin(self):
        routes = [answering(f"/{name}/{'{id}' if name == 'segment' else '**'}", "p", name)
                  for name in IDENTITIES]
        for route, name in zip(routes, IDENTITIES):
            route["name"] = name
        self.server = self.redis()
        self.weir = self.start(sharing(self.server.url, POLICIES, identities=IDENTITIES,
                                       jwt_providers=PROVIDERS, client_address=CLIENT, routes=routes,
                                       paths={"also_match": ["letter_case"]},
                                       redis={"timeout": "10s", "on_failure": "deny"},
                                       admin={"address": "127.0.0.1:0"}))
        self.await_redis(self.weir)
        self.client = self.connect(self.weir)
        self.asked = 0

    def hashes(self, identity, *values, **options):
        result = run("hash", "--config", str(self.weir.file), "--identity", identity, *values, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        return result.stdout.splitlines()

    def shown(self, identity, target, **fields):
        """The hash in the access log, which is also in the key in Redis."""
        self.asked += 1
        answer = self.client.get(f"/{identity}{target}",
                                 {name.replace("_", "-"): value for name, value in fields.items()})
        self.assertEqual(answer.status, 200, answer)
        line = self.log_lines(self.weir, self.asked)[-1]
        self.assertIn(b"weir:{%s}:p:f1" % line["identity"].encode(), self.server.keys())
        return line["identity"]

    def test_values_of_every_kind_have_the_hash_of_the_log_and_of_redis(self):
        self.begin()
        rows = [
            ("api_key", ["abc"], self.shown("api_key", "/", X_Api_Key="abc")),
            ("login", ["Basic YTpi"], self.shown("login", "/", Authorization="basic YTpi")),
            ("client", ["192.0.2.77"], self.shown("client", "/", X_Forwarded_For="192.0.2.7")),
            ("client", ["2001:db8::1"], self.shown("client", "/", X_Forwarded_For="2001:db8:0:9::2")),
            ("user", ["alice"], self.shown("user", "/", **bearer())),
            ("tenant_path", ["blue", "/Tenant_Path/A"],
             self.shown("tenant_path", "/a", X_Tenant="blue")),
            ("segment", ["a b"], self.shown("segment", "/a%20b")),
        ]
        for identity, values, expected in rows:
            with self.subTest(identity, values=values):
                self.assertEqual(self.hashes(identity, *values), [expected])
        self.assertEqual(len({row[2] for row in rows}), len(rows))

    def test_a_value_with_several_hashes_has_each_with_its_source(self):
        self.begin()
        header = self.shown("either", "/", X_Api_Key="abc")
        query = self.shown("either", "/?api_key=abc")
        cookie = self.shown("either", "/", Cookie="sid=abc")
        self.assertEqual(self.hashes("either", "abc"),
                         [f"{header}  header x-api-key", f"{query}  query api_key",
                          f"{cookie}  cookie sid"])
        text = self.shown("account", "/", **bearer(account="50"))
        number = self.shown("account", "/", **bearer(account=5e1))
        self.assertEqual(self.hashes("account", "50"),
                         [f"{text}  claim account of idp", f"{number}  claim account of idp (a number)"])
        flag = self.shown("account", "/", **bearer(account=True))
        self.assertIn(f"{flag}  claim account of idp (a boolean)", self.hashes("account", "true"))
        deep = self.shown("deep", "/?app=web", X_Forwarded_For="192.0.2.7", **bearer())
        self.assertIn(f"{deep}  client_address + claim sub of idp + query app",
                      self.hashes("deep", "192.0.2.200", "alice", "web"))

    def test_several_values_of_one_source_are_a_line_each_and_may_come_from_standard_input(self):
        self.begin()
        one, two = self.hashes("api_key", "abc", "def")
        self.assertEqual([one, two], [*self.hashes("api_key", "abc"), *self.hashes("api_key", "def")])
        self.assertNotEqual(one, two)
        self.assertEqual(self.hashes("api_key", "-", "-", input="abc\ndef\n"), [one, two])

    def test_the_hash_is_accepted_where_hashes_are(self):
        self.begin()
        self.shown("tenant_path", "/a", X_Tenant="blue")
        [combined] = self.hashes("tenant_path", "blue", "/tenant_path/a")
        admin = "http://%s:%d" % self.weir.admin_address
        result = run("limits", "override", "--key", f"hash:{combined}", "--deny",
                     "--until", in_an_hour(), "--admin", admin)
        self.assertEqual(result.returncode, 0, result)
        answer = self.client.get("/tenant_path/a", {"X-Tenant": "blue"})
        self.assertEqual(answer.status, 403)

    def test_wrong_usage_names_what_is_wrong_and_shows_no_value(self):
        self.begin()
        rows = [
            ("api_keys", ["secret-value"], '--identity: no identity is called "api_keys"; did you mean "api_key"?'),
            ("client", ["secret-value"], "no request can have this value as client (client_address)"),
            ("tenant_path", ["secret-value"], "no request can have these values as tenant_path (all of "
             "(header x-tenant, path)); give one VALUE for each source of all_of, in its order"),
            ("tenant_path", ["a", "b", "secret-value"], "give one VALUE for each source"),
            ("api_key", [""], "no request can have this value as api_key (header x-api-key)"),
        ]
        for identity, values, message in rows:
            with self.subTest(identity, values=values):
                result = run("hash", "--config", str(self.weir.file), "--identity", identity, *values)
                self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                self.assertIn("weir hash: ", result.stderr)
                self.assertIn(message, result.stderr)
                self.assertNotIn("secret-value", result.stderr)
        for arguments in (["hash"], ["hash", "--identity", "a"], ["hash", "abc"]):
            self.assertEqual(run(*arguments).returncode, 2)

    def test_files_that_it_does_not_need_may_be_missing_or_wrong(self):
        secret = "0123456789abcdef0123456789abcdef"
        parts = {"identity_secret": secret, "identities": IDENTITIES, "jwt_providers": PROVIDERS,
                 "routes": [{"respond": {}}]}
        plain = self.start(configuration(**parts))
        weir = self.start(configuration(**parts))
        wrong = weir.directory / "wrong.tsv"
        wrong.write_text("no TAB\n")
        config = json.loads(weir.file.read_text())
        config["plans"] = {"gold": {}}
        config["jwt_providers"]["other"] = {"algorithms": ["ES256"], "jwks": {"file": "missing.json"}}
        config["address_lists"] = {"office": {"file": "missing.txt"}}
        for file in ("missing.tsv", wrong.name):
            with self.subTest(file=file):
                config["plan_from"] = [{"file": file, "key": "api_key"}]
                path = weir.directory / "other.yaml"
                path.write_text(json.dumps(config))
                self.assertEqual(run("check", str(path)).returncode, 2)
                done = run("hash", "--config", str(path), "--identity", "api_key", "abc")
                expected = run("hash", "--config", str(plain.file), "--identity", "api_key", "abc")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, expected.stdout, ""))

    def test_a_missing_identity_secret_is_pointed_out(self):
        weir = self.start(configuration(identities=IDENTITIES, jwt_providers=PROVIDERS,
                                        routes=[{"respond": {}}]))
        result = run("hash", "--config", str(weir.file), "--identity", "api_key", "abc")
        self.assertEqual(result.returncode, 0)
        self.assertIn("identity_secret is not set here", result.stderr)
        self.assertRegex(result.stdout, "^[0-9a-f]{32}\n$")
