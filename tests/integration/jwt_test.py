"""Requests that are counted for a claim of their token."""

import json
import os
import tempfile
import time

from harness.case import Case, limited
from harness.issuers import SECRET, node_jose, pyjwt, signed
from harness.preload import fast_clock
from harness.waiting import eventually

ONE = {"p": {"algorithm": "fixed_window", "rate": "1/1h"}}
SECRET_PROVIDER = {"algorithms": ["HS256"], "secret": SECRET}
USER = {"jwt": {"provider": "idp", "claim": "sub"}}


def bearer(token, scheme="Bearer"):
    return {"Authorization": f"{scheme} {token}"}


def claims(sub="alice", lifetime=3600, **others):
    made = {"exp": int(time.time()) + lifetime, **others}
    return made if sub is None else {"sub": sub, **made}


class TokenCase(Case):
    def begin(self, provider=None, limits=None, user=None, policies=None, environment=None, **sections):
        limits = limits or [{"policy": "p", "key": "user"}]
        self.weir = self.start(limited(policies or ONE, limits, {"user": user or USER},
                                       jwt_providers={"idp": provider or SECRET_PROVIDER},
                                       **sections), environment=environment)
        self.client = self.connect(self.weir)

    def status(self, token, **options):
        return self.client.get("/", bearer(token, **options)).status

    def assert_rejected(self, response, why):
        self.assert_problem(response, 401)
        self.assertEqual(response["WWW-Authenticate"],
                         f'Bearer error="invalid_token", error_description="{why}"')


class Secrets(TokenCase):
    def test_a_subject_is_counted_and_other_subjects_apart(self):
        self.begin()
        self.assertEqual(self.status(signed(claims())), 200)
        self.assertEqual(self.status(signed(claims(lifetime=1800))), 429)
        self.assertEqual(self.status(signed(claims("bob")), scheme="bEARER"), 200)
        self.assertEqual([self.client.get("/").status for _ in range(3)], [200] * 3)

    def test_an_invalid_token_is_answered_401_with_the_reason(self):
        self.begin({**SECRET_PROVIDER, "issuer": "https://issuer.test", "audience": ["api", "web"],
                    "type": "at+jwt", "leeway": "5s", "max_size": "1KiB"})
        good = {"iss": "https://issuer.test", "aud": ["x", "web"]}
        self.assertEqual(self.status(signed(claims(**good), typ="application/AT+JWT")), 200)
        rows = [
            (signed(claims(lifetime=-6, **good), typ="at+jwt"), "the token has expired"),
            (signed(claims(**good), typ="JWT"), "the token is of another type"),
            (signed(claims(**{**good, "iss": "https://issuer.test/"}), typ="at+jwt"),
             "the token is from another issuer"),
            (signed(claims(**{**good, "aud": "apis"}), typ="at+jwt"),
             "the token is for another audience"),
            (signed(claims(**good), secret="another secret", typ="at+jwt"),
             "the signature of the token is not valid"),
            (signed({"sub": "alice", **good}, typ="at+jwt"), "the token has no expiry"),
            (signed(claims(**good), typ="at+jwt", crit=["b64"]),
             "the token requires an extension that is not supported"),
            (signed('{"sub":"a","sub":"b"}', typ="at+jwt"),
             "a member name appears more than once in the token"),
            (signed(claims(pad="x" * 1024, **good), typ="at+jwt"), "the token is too large"),
            ("abc", "the token does not consist of header, payload and signature"),
            ('{"payload": "e30", "protected": "eyJ9", "signature": "c2ln"}',
             "the token does not consist of header, payload and signature"),
        ]
        for token, why in rows * 2:
            with self.subTest(why):
                self.assert_rejected(self.client.get("/", bearer(token)), why)

    def test_leeway_tolerates_clocks_that_differ(self):
        self.begin({**SECRET_PROVIDER, "leeway": "60s"}, policies={"p": {"rate": "100/1h"}})
        now = int(time.time())
        self.assertEqual(self.status(signed({"sub": "a", "exp": now - 30})), 200)
        self.assertEqual(self.status(signed({"sub": "a", "exp": now - 61})), 401)
        self.assertEqual(self.status(signed(claims(nbf=now + 30))), 200)
        self.assertEqual(self.status(signed(claims(nbf=now + 300))), 401)

    def test_absent_falls_to_the_other_identity(self):
        self.begin({**SECRET_PROVIDER, "on_invalid": "absent"},
                   [{"policy": "p", "key": "user", "otherwise": "client"}])
        self.assertEqual([self.status(signed(claims("a", lifetime=-99))) for _ in range(2)],
                         [200, 429])
        self.assertEqual(self.status(signed(claims("a", lifetime=-100))), 429)
        self.assertEqual(self.status(signed(claims("a"))), 200)

    def test_failed_verifications_are_limited_by_address(self):
        self.begin(limits=[{"policy": "p", "key": "user", "required": True},
                           {"policy": "per_client", "key": "client"}],
                   policies={**ONE, "per_client": {"algorithm": "fixed_window", "rate": "3/1h"}})
        bad = [signed(claims(f"u{i}"), secret="invented") for i in range(5)]
        self.assertEqual([self.status(token) for token in bad], [401, 401, 401, 429, 429])

    def test_a_request_with_an_invalid_token_is_charged_to_no_user(self):
        self.begin(limits=[{"policy": "p", "key": "user", "otherwise": "client"}])
        self.assertEqual(self.status(signed(claims(), secret="invented")), 401)
        self.assertEqual(self.client.get("/").status, 200)

    def test_a_shadow_policy_rejects_no_token(self):
        self.begin(policies={"p": {**ONE["p"], "mode": "shadow"}})
        self.assertEqual(self.status("not.a.token"), 200)

    def test_a_required_token_is_asked_for(self):
        self.begin(limits=[{"policy": "p", "key": "user", "required": True}])
        response = self.client.get("/")
        self.assert_problem(response, 401)
        self.assertEqual(response["WWW-Authenticate"], "Bearer")
        other_scheme = self.client.get("/", {"Authorization": "Basic YTpi"})
        self.assert_problem(other_scheme, 401)

    def test_claims_of_other_kinds(self):
        self.begin(user={"jwt": {"provider": "idp", "claim": "account.id"}})
        for value, status in [(5, 200), ("5", 200), (5.0, 429), (True, 200), ("true", 200)]:
            token = signed(claims(account={"id": value}))
            self.assertEqual(self.status(token), status, value)
        for value in [None, "", [1], {"a": 1}]:
            token = signed(claims(account={"id": value}))
            self.assertEqual([self.status(token) for _ in range(2)], [200, 200], value)
        logged = "jwt provider idp: claim account.id is a list or an object"
        eventually(lambda: logged in self.weir.stderr, logged)
        self.status(signed(claims(account={"id": [2]})))
        self.assertEqual(self.weir.stderr.count(logged), 1)

    def test_a_token_in_a_query_a_cookie_and_another_header(self):
        def as_is(token):
            return "/", {"X-Token": token}

        for place, request in [
                ({"query": "token"}, lambda token: (f"/?token={token}", {})),
                ({"cookie": "session"}, lambda token: ("/", {"Cookie": f"session={token}"})),
                ({"header": "x-token"}, as_is),
                ({"header": "X-Token"}, lambda token: as_is(f"bearer {token}"))]:
            with self.subTest(place):
                self.begin({**SECRET_PROVIDER, **place})
                token, invalid = signed(claims()), signed(claims(), secret="invented")
                got = [self.client.get(*request(each)).status for each in [token, token, invalid]]
                self.assertEqual(got, [200, 429, 401])

    def test_a_token_that_services_read_differently_is_refused(self):
        self.begin()
        for value in ["Bearer a b", "Bearer a, b", "Bearer Bearer a"]:
            self.assert_problem(self.client.get("/", {"Authorization": value}), 400)
        twice = [("Authorization", "Bearer a.b.c")] * 2
        self.assert_problem(self.client.get("/", twice), 400)
        self.begin({**SECRET_PROVIDER, "query": "t"})
        self.assert_problem(self.client.get("/?t=a.b.c&t=a.b.d"), 400)

    def test_tokens_appear_nowhere(self):
        self.begin({**SECRET_PROVIDER, "query": "token"}, admin={"address": "127.0.0.1:0"},
                   access_log={"path": "-"})
        tokens = [signed(claims("alice-in-the-log")),
                  signed(claims("alice-in-the-log"), secret="invented"), "a.b.c-in-the-log"]
        for token in tokens * 2:
            self.client.get(f"/?token={token}")
        metrics = self.connect_admin(self.weir).get("/metrics").body.decode()
        self.assertIn('weir_jwt_verifications_total{provider="idp",result="valid"} 2', metrics)
        self.assertIn('weir_jwt_verifications_total{provider="idp",result="invalid"} 4', metrics)
        eventually(lambda: self.weir.stdout.count('"status":401') == 4, "the log has every line")
        shown = metrics + self.weir.stderr + self.weir.stdout
        for secret in [*tokens, SECRET, "alice-in-the-log", "c-in-the-log"]:
            self.assertNotIn(secret, shown)

    def test_an_attribute_and_a_condition_read_claims(self):
        policies = {"w": {"algorithm": "attributed_window", "rate": "9/1h",
                          "attributes": ["claim:idp:sub", "jwt:sub"]},
                    "p": ONE["p"]}
        self.begin(limits=[{"policy": "p", "key": "client", "unless": {"identity": "user"}},
                           {"policy": "w", "key": "client"}], policies=policies)
        self.assertEqual([self.status(signed(claims())) for _ in range(3)], [200] * 3)
        self.assertEqual(self.status(signed(claims("bob"))), 200)
        # An invalid token is no user, so the limit without users counts it.
        self.assertEqual([self.status("a.b.c") for _ in range(2)], [401, 429])
        self.assertEqual(self.client.get("/").status, 429)


class Keys(TokenCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="weir-keys-")
        self.addCleanup(self.directory.cleanup)

    def write_keys(self, *keys):
        path = os.path.join(self.directory.name, "jwks.json")
        with open(path + ".new", "w") as file:
            json.dump({"keys": list(keys)}, file)
        os.replace(path + ".new", path)
        return path

    def test_tokens_of_pyjwt_and_of_jose(self):
        algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384",
                      "ES512", "EdDSA"]
        for library in [pyjwt, node_jose]:
            with self.subTest(library.__name__):
                issuer = library()
                self.addCleanup(issuer.stop)
                keys = [issuer.make_key(f"key of {each}", each) for each in algorithms]
                if library is node_jose:
                    keys.append(issuer.make_key("Ed448", "EdDSA", "Ed448"))
                path = self.write_keys(*keys)
                self.begin({"algorithms": algorithms, "jwks": {"file": path}})
                for name in [*(f"key of {each}" for each in algorithms),
                             *(["Ed448"] if library is node_jose else [])]:
                    algorithm = "EdDSA" if name == "Ed448" else name[7:]
                    token = issuer.token(name, algorithm, claims(name))
                    forged = token[:-8] + ("A" * 8 if token[-8:] != "A" * 8 else "B" * 8)
                    got = [self.status(each) for each in [token, token, forged]]
                    self.assertEqual(got, [200, 429, 401], name)

    def test_unsuitable_keys_are_reported_and_the_others_used(self):
        issuer = pyjwt()
        self.addCleanup(issuer.stop)
        good, twice = issuer.make_key("good", "ES256"), issuer.make_key("twice", "ES256")
        path = self.write_keys(good, twice, twice, {"kty": "oct", "k": "AAAA", "kid": "secret"},
                               {**issuer.make_key("enc", "ES256"), "use": "enc"})
        self.begin({"algorithms": ["ES256", "RS256"], "jwks": {"file": path}})
        self.assertEqual(self.status(issuer.token("good", "ES256", claims())), 200)
        for kid in ["twice", "enc"]:
            response = self.client.get("/", bearer(issuer.token(kid, "ES256", claims())))
            self.assert_rejected(response, "the key of the token is not known")
        for kid in ["twice", "enc", "secret"]:
            self.assertIn(f'(kid "{kid}") is not used', self.weir.stderr)

    def test_a_file_that_changes_is_read_again(self):
        issuer = pyjwt()
        self.addCleanup(issuer.stop)
        first, second = (issuer.make_key(kid, "ES256") for kid in ("first", "second"))
        self.begin({"algorithms": ["ES256"], "jwks": {"file": self.write_keys(first)}},
                   policies={"p": {"rate": "1000000/1s"}}, admin={"address": "127.0.0.1:0"},
                   environment=fast_clock(10))
        old, new = (issuer.token(kid, "ES256", claims()) for kid in ("first", "second"))
        self.assertEqual([self.status(old), self.status(new)], [200, 401])
        self.write_keys(first, second)
        eventually(lambda: self.status(new) == 200, "the second key is used")
        self.assertEqual(self.status(old), 200)
        self.write_keys(second)
        eventually(lambda: self.status(old) == 401, "the first key is removed")
        self.assertEqual(self.status(new), 200)
        self.write_keys()
        kept = "keys of idp: the previous content stays in use, 1 key\n"
        eventually(lambda: kept in self.weir.stderr, kept)
        self.assertEqual(self.status(new), 200)
        metrics = self.connect_admin(self.weir).get("/metrics").body.decode()
        self.assertIn('weir_file_reloads_total{kind="jwks_file",result="ok"} 2', metrics)
        self.assertIn('weir_file_reloads_total{kind="jwks_file",result="failed"} 1', metrics)
