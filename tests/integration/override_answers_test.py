"""Commands about overrides: what they answer to wrong usage and to answers of the server."""

import os
import time

from harness.case import configuration
from harness.issuers import SECRET, signed
from harness.override_case import ADMIN, KEY, OverrideCase, in_an_hour
from harness.redis_case import answering
from harness.weir import run


class OtherServers(OverrideCase):
    def test_another_server_is_named_as_such(self):
        weir = self.alone()
        answer = {"status": 200, "body": '{"overrides":[{"hash":5}],"complete":true}'}
        url = "http://{}:{}".format(*self.start(configuration(routes=[{"respond": answer}])).address)
        for words in (("limits", "overrides"), ("limits", "overrides", "--json"),
                      ("limits", "override", "--key", "a", "--identity", "api_key", "--deny"),
                      ("limits", "override", "--key", "a", "--identity", "api_key", "--delete"),
                      ("explain", "--config", str(weir.file), "-H", f"X-Api-Key: {KEY}", "http://a/gcra")):
            with self.subTest(words=words):
                done = run(*words, "--admin", url)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertEqual(done.stderr, f"weir {words[0]}: {url}: the answer is not one of Weir's "
                                              "admin server; set --admin to its address\n")


class Claims(OverrideCase):
    """A value that a token may have as a string and as a number has two keys."""

    def test_the_key_of_the_number_is_named_by_its_hash(self):
        weir = self.alone(
            jwt_providers={"idp": {"algorithms": ["HS256"], "secret": SECRET}},
            identities={"tenant": {"jwt": {"provider": "idp", "claim": "tenant"}}},
            policies={"p": {"rate": "100/1h"}}, routes=[answering("/p", "p", "tenant")])

        def status(tenant):
            token = signed({"tenant": tenant, "exp": int(time.time()) + 3600})
            with weir.connect() as client:
                return client.request("GET", "/p", {"Authorization": f"Bearer {token}"}).status

        deny = ("limits", "override", "--deny", "--admin", "http://{}:{}".format(*weir.admin_address))
        refused = run(*deny, "--key", "5")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("may be a string or a number", refused.stderr)
        self.assertIn("write hash:HEX", refused.stderr)
        hashes = run("hash", "--config", str(weir.file), "--identity", "tenant", "5").stdout.splitlines()
        [number] = [line.split()[0] for line in hashes if line.endswith("(a number)")]
        self.assertEqual(run(*deny, "--key", "hash:" + number).returncode, 0)
        self.assertEqual((status(5), status("5"), status(6)), (403, 200, 200))


class Warnings(OverrideCase):
    def test_an_override_that_no_limit_can_use(self):
        weir = self.alone()
        command = ("limits", "override", "--key", "192.0.2.1", "--identity", "client", "--deny",
                   "--admin", "http://{}:{}".format(*weir.admin_address))
        done = run(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^hash:[0-9a-f]{32}, all policies: deny\n$")
        self.assertIn("weir limits: no limit of a route has the key client", done.stderr)


class Usage(OverrideCase):
    """What the command finds by itself has exit code 2, and nothing is sent."""

    def test_wrong_usage(self):
        nowhere = ("--admin", "http://127.0.0.1:1")
        for arguments, message in (
                (["--key", "a"], "expected one of: numbers (--rate, --rates,"),
                (["--key", "a", "--policy", "p", "--rate", "5"], "--rate: "),
                (["--key", "a", "--delete", "--policy", "p", "--deny", "--rates", "1/1s,2/1m", "--burst", "1",
                  "--until", in_an_hour(), "--note", "x"],
                 "--delete and --rates, --burst, --deny, --until, --note exclude each other"),
                (["--key", "-", "--deny"], "--key: standard input has more than one line")):
            with self.subTest(arguments=arguments):
                done = run("limits", "override", *arguments, *nowhere, input="one\ntwo\n")
                self.assertEqual((done.returncode, done.stdout), (2, ""), done)
                self.assertIn("weir limits: " + message, done.stderr)
                self.assertTrue(done.stderr.endswith("\nTry `weir limits --help`.\n"), done.stderr)

    def test_a_token_that_is_wrong_is_no_missing_one(self):
        weir = self.alone(admin={**ADMIN, "token": "open-sesame"})
        file = weir.directory / "token"
        file.write_text("sesame\n")
        command = ("limits", "overrides", "--admin", "http://{}:{}".format(*weir.admin_address))
        for options, variable, messages in (
                ([], {}, ["and the request has none", "from --token-file FILE or from WEIR_ADMIN_TOKEN"]),
                ([], {"WEIR_ADMIN_TOKEN": "sesame"},
                 ["the token that was sent is not the one", "sent the one in WEIR_ADMIN_TOKEN"]),
                (["--token-file", str(file)], {"WEIR_ADMIN_TOKEN": "open-sesame"},
                 ["the token that was sent is not the one", f"sent the one in --token-file {file}"])):
            with self.subTest(options=options, variable=variable):
                done = run(*command, *options, env={**os.environ, **variable})
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                for message in messages:
                    self.assertIn(message, done.stderr)

    def test_a_deletion_names_the_hash(self):
        weir = self.alone()
        hash = "hash:" + self.put(weir, deny=True)["hash"]
        done = run("limits", "override", "--key", hash, "--delete", "--admin",
                   "http://{}:{}".format(*weir.admin_address))
        self.assertEqual((done.returncode, done.stdout), (0, hash + ", all policies: deleted\n"))
