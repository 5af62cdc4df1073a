"""`weir limits override` and `weir limits overrides`."""

import json
import os
import re
import shlex
from pathlib import Path

from harness.limit_fields import limit_fields
from harness.override_case import ADMIN, KEY, OverrideCase, in_an_hour
from harness.redis_case import answering
from harness.weir import run

DOCUMENTS = Path(__file__).parents[2] / "docs"
# The policy and the key that the commands of a document name, and the numbers in force after them.
DOCUMENTED = {"identity.md": ("per_key", "k-71f2e0", {"q": 500, "w": 1})}


def without_values(text):
    """Hashes and numbers differ from one run to the next."""
    return re.sub(r"\d+(\.\d+)?", "N", re.sub(r"\b[0-9a-f]{32}\b", "HASH", re.sub(r"until \S+Z", "until TIME", text)))


class CommandLine(OverrideCase):
    def limits(self, weir, *arguments, **options):
        return run("limits", *arguments, "--admin", "http://{}:{}".format(*weir.admin_address), **options)

    def test_it_puts_lists_and_deletes(self):
        weir = self.shared()[0]
        until = in_an_hour()
        done = self.limits(weir, "override", "--identity", "api_key", "--key", KEY, "--policy", "gcra",
                           "--rate", "60/1m", "--until", until, "--note", "more this week")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        line = rf"hash:[0-9a-f]{{32}}, policy gcra: rate 60/1m, until {until}, note more this week\n"
        self.assertRegex(done.stdout, f"^{line}$")
        self.assertEqual(limit_fields(self.get(weir)).policies["gcra"], {"q": 60, "w": 60})
        self.assertRegex(self.limits(weir, "overrides").stdout, f"^{line}$")
        hash = done.stdout.split(",")[0]
        self.assertRegex(self.limits(weir, "overrides", "--key", hash).stdout, f"^{line}$")
        listed = json.loads(self.limits(weir, "overrides", "--json").stdout)
        self.assertEqual(listed["overrides"][0]["rate"], "60/1m")
        gone = self.limits(weir, "override", "--key", "-", "--identity", "api_key", "--policy", "gcra",
                           "--delete", input=KEY + "\n")
        self.assertEqual((gone.returncode, gone.stdout, gone.stderr),
                         (0, "the key, policy gcra: deleted\n", ""))
        self.assertEqual(self.limits(weir, "overrides").stdout, "no overrides\n")
        again = self.limits(weir, "override", "--key", hash, "--policy", "gcra", "--delete")
        self.assertEqual((again.returncode, again.stdout), (1, ""))
        self.assertIn("no such override: the key has none for the policy gcra", again.stderr)

    def test_a_damaged_one_is_listed_with_its_policy_if_that_can_be_read(self):
        weir = self.shared()[0]
        hash = self.put(weir, policy="gcra", deny=True, until=in_an_hour())["hash"]
        at = f"weir:{{{hash}}}:!"
        with self.servers[0].client() as client:
            text = client("GET", at)
            for damaged, line in ((text.replace(b"\td ", b"\tu "), f"hash:{hash}, policy gcra: malformed\n"),
                                  (text.replace(b"1\n", b"2\n", 1), f"hash:{hash}: malformed\n"),
                                  (b"", f"hash:{hash}: malformed\n"),
                                  (b"1\ngcra\n", f"hash:{hash}: malformed\n")):
                client("SET", at, damaged, "EX", 600)
                self.assertEqual(self.limits(weir, "overrides").stdout, line)
        # A change repairs the rest, too.
        self.put(weir, policy="sliding_log", unlimited=True, until=in_an_hour())
        self.assertRegex(self.limits(weir, "overrides").stdout,
                         rf"^hash:{hash}, policy sliding_log: unlimited, until \S+\n$")

    def test_it_says_that_the_memory_store_loses_them(self):
        weir = self.alone(admin={**ADMIN, "token": "open-sesame"})
        arguments = ("override", "--identity", "api_key", "--key", KEY, "--deny")
        refused = self.limits(weir, *arguments)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("needs the token", refused.stderr)
        done = self.limits(weir, *arguments, env={**os.environ, "WEIR_ADMIN_TOKEN": "open-sesame"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("loses it when it restarts", done.stderr)
        token = weir.directory / "token"
        token.write_text("open-sesame\n")
        done = self.limits(weir, "overrides", "--token-file", str(token))
        self.assertRegex(done.stdout, r"^hash:[0-9a-f]{32}, all policies: deny\n$")
        self.assertEqual(self.get(weir).status, 403)

    def test_the_commands_of_the_documents(self):
        commands = {file.name: re.findall(r"^weir (limits (?:.*\\\n)*.*)$", file.read_text(), re.MULTILINE)
                    for file in DOCUMENTS.glob("*.md")}
        commands = {name: found for name, found in commands.items() if found}
        self.assertEqual(set(commands), set(DOCUMENTED))
        for name, (policy, key, numbers) in DOCUMENTED.items():
            weir = self.shared(policies={policy: {"rate": "2/10h"}}, routes=[answering("/gcra", policy, "api_key")])[0]
            for command in commands[name]:
                with self.subTest(document=name, command=command):
                    text = re.sub(r"--until \S+", f"--until {in_an_hour()}", command.replace("\\\n", " "))
                    done = self.limits(weir, *shlex.split(text)[1:])
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertRegex(done.stdout, rf"(?m)^hash:[0-9a-f]{{32}}, policy {policy}: rate ")
            self.assertEqual(limit_fields(self.get(weir, "gcra", key)).policies[policy], numbers)
            weir.stop()

    def test_the_tasks_of_the_operations_page(self):
        """Each command of these tasks prints what the page shows."""
        page = (DOCUMENTS / "operations.md").read_text()
        page = page[page.index("### Raise a limit for a day"):page.index("### Change the configuration")]
        shown = re.findall(r"^\$ weir (limits .*)\n((?:(?!\$|```).*\n)*)", page, re.MULTILINE)
        self.assertEqual(len(shown), 7)
        weir = self.shared(policies={"per_user": {"algorithm": "sliding_window", "rate": "600/1m"}},
                           routes=[answering("/gcra", "per_user", "api_key")])[0]
        self.assertEqual(self.get(weir, key="key-of-the-customer").status, 200)
        for command, expected in shown:
            with self.subTest(command=command):
                text = re.sub(r"--until \S+", f"--until {in_an_hour()}", command)
                done = self.limits(weir, *shlex.split(text)[1:])
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(without_values(done.stdout), without_values(expected))
