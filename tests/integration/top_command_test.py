"""`weir top`: printed once, and as a view of a terminal."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios

from harness.case import configuration
from harness.redis_case import RedisCase
from harness.waiting import eventually
from harness.weir import binary, run

KEYS = [f"a-secret-key-{number}" for number in range(4)]
SECTIONS = {"identities": {"api_key": {"header": "X-Api-Key"}}, "admin": {"address": "127.0.0.1:0"},
            "policies": {"narrow": {"algorithm": "fixed_window", "rate": "2/10h"}},
            "routes": [{"name": name, "match": {"path": "/" + name}, "respond": {"status": 200},
                        "limits": [{"policy": "narrow", "key": "api_key"}]} for name in ("search", "login")]}


# What a VT100 is told: a control sequence, another escape, a control character, or one to show.
PIECE = re.compile(r"\x1b\[([?0-9;]*)([@-~])|\x1b[()#].|\x1b.|[\x00-\x1f]|[^\x00-\x1f]")


class Screen:
    """What a VT100 shows after it has got a text, as far as ncurses uses it."""

    def __init__(self, lines, columns):
        self.cells = [[" "] * columns for _ in range(lines)]
        self.row = self.column = 0

    def put(self, text):
        for piece in PIECE.finditer(text):
            if piece[2]:
                numbers = [int(number) for number in re.findall("[0-9]+", piece[1])]
                self.control(piece[2], numbers)
            elif len(piece[0]) == 1:
                self.character(piece[0])

    def control(self, final, numbers):
        count = numbers[0] if numbers else 0
        if final == "H":
            self.row, self.column = ((numbers or [1, 1])[0] - 1, (numbers or [1, 1])[-1] - 1)
        elif final in "ABCD":
            step = max(count, 1)
            self.row += {"A": -step, "B": step}.get(final, 0)
            self.column += {"D": -step, "C": step}.get(final, 0)
        elif final == "K":
            first, last = ((self.column, None), (0, self.column + 1), (0, None))[count]
            for column in range(*slice(first, last).indices(len(self.cells[0]))):
                self.cells[self.row][column] = " "
        elif final == "J":
            first = self.row + 1 if count == 0 else 0
            if count == 0:
                self.control("K", [])
            for row in self.cells[first:]:
                row[:] = " " * len(row)

    def character(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row += 1
        elif character == "\b":
            self.column -= 1
        elif character >= " ":
            self.cells[self.row][self.column] = character
            self.column += 1

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cells)


class Terminal:
    """A command on a terminal of its own, with what it shows there."""

    def __init__(self, *arguments, lines=24, columns=160, type="vt100"):
        self.master, self.slave = pty.openpty()
        self.written = b""
        self.resize(lines, columns)
        self.settings = termios.tcgetattr(self.slave)

        def control():
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([binary(), *arguments], stdin=self.slave, stdout=self.slave,
                                        stderr=subprocess.PIPE, preexec_fn=control,
                                        env={**os.environ, "TERM": type, "LC_ALL": "C.UTF-8"})

    def resize(self, lines, columns):
        """A terminal is cleared by it; the command shows everything again."""
        if self.written:
            self.read()
        self.screen = Screen(lines, columns)
        self.shown = len(self.written)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, key):
        os.write(self.master, key.encode())

    def read(self):
        """All that was written."""
        while select.select([self.master], [], [], 0)[0]:
            self.written += os.read(self.master, 65536)
        return self.written.decode(errors="replace")

    def show(self):
        """The text on the screen."""
        self.screen.put(self.read()[self.shown:])
        self.shown = len(self.written)
        return self.screen.text()

    def wait_for(self, text):
        eventually(lambda: text in self.show(), f"{text!r} on the terminal")

    def end(self):
        """The exit code, once it has ended."""
        eventually(lambda: self.read() is not None and self.process.poll() is not None, "the end of the command")
        self.read()
        return self.process.returncode

    def is_restored(self):
        return termios.tcgetattr(self.slave) == self.settings

    def close(self):
        self.process.kill()
        self.process.communicate()
        os.close(self.master)
        os.close(self.slave)


class TopCase(RedisCase):
    def setUp(self):
        super().setUp()
        self.weir = self.start(configuration(**SECTIONS))

    def url(self, weir=None):
        return "http://{}:{}".format(*(weir or self.weir).admin_address)

    def send(self, key, times, path="/search"):
        with self.weir.connect() as connection:
            for _ in range(times):
                connection.get(path, [("X-Api-Key", key)])

    def top(self, *arguments, **options):
        return run("top", "--admin", self.url(), *arguments, **options)

    def terminal(self, *arguments, **options):
        terminal = Terminal("top", "--admin", self.url(), *arguments, **options)
        self.addCleanup(terminal.close)
        return terminal


class Printed(TopCase):
    def test_once_prints_a_table(self):
        self.assertRegex(self.top("--once").stdout, r"^last \d+ s, all keys: 0 requests, 0 denied, 0 early retries\nREQUESTS .*\n$")
        self.send(KEYS[0], 5)
        self.send(KEYS[1], 1, "/login")
        done = self.top("--once")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for key in KEYS:
            self.assertNotIn(key, done.stdout)
        summary, header, *rows = done.stdout.splitlines()
        self.assertRegex(summary, r"^last \d+ s, all keys: 6 requests, 3 denied, 2 early retries$")
        self.assertEqual(header.split(), ["REQUESTS", "DENIED", "EARLY", "+/-", "POLICY", "ROUTE", "IDENTITY",
                                          "CLIENT", "KEY"])
        self.assertEqual([row.split()[:8] for row in rows],
                         [["5", "3", "2", "0", "narrow", "search", "api_key", "127.0.0.1"],
                          ["1", "0", "0", "0", "narrow", "login", "api_key", "127.0.0.1"]])
        for row in rows:
            self.assertTrue(re.fullmatch("hash:[0-9a-f]{32}", row.split()[8]), row)
        self.assertEqual([line.index("narrow") for line in rows], [header.index("POLICY")] * 2)
        self.assertEqual(len(self.top("--once", "-n", "1").stdout.splitlines()), 3)
        self.assertEqual(self.top("--once", "--by", "denied").stdout.splitlines()[2:], rows[:1])
        self.assertEqual(len(self.top("--once", "--route", "login").stdout.splitlines()), 3)
        answer = json.loads(self.top("--json", "--by", "early_retries", "--policy", "narrow").stdout)
        self.assertEqual([key["early_retries"] for key in answer["keys"]], [2])

    def test_what_is_wrong(self):
        done = self.top("--once", "--policy", "narow")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn('did you mean "narrow"?', done.stderr)
        for arguments, problem in ((("--by", "hits"), "expected requests, denied or early_retries"),
                                   (("-n", "0"), "from 1 to 1000"), (("-n", "1001"), "from 1 to 1000")):
            done = self.top("--once", *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(problem, done.stderr)
        done = self.top(stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("must be a terminal; use --once", done.stderr)

    def test_it_sends_the_token(self):
        token = "token-of-the-operator"
        weir = self.start(configuration(**{**SECTIONS, "admin": {**SECTIONS["admin"], "token": token}}))
        done = run("top", "--once", "--admin", self.url(weir))
        self.assertEqual(done.returncode, 1)
        self.assertIn("--token-file FILE or from WEIR_ADMIN_TOKEN", done.stderr)
        done = run("top", "--once", "--admin", self.url(weir), env={**os.environ, "WEIR_ADMIN_TOKEN": token})
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class TopView(TopCase):
    def test_keys_sort_the_view_and_q_quits(self):
        self.send(KEYS[0], 4)
        self.send(KEYS[1], 2, "/login")
        terminal = self.terminal()
        terminal.wait_for("weir top by requests, last")
        terminal.wait_for("q quit")
        self.assertEqual(terminal.show().count("hash:"), 2)
        terminal.press("d")
        terminal.wait_for("weir top by denied, last")
        self.assertEqual(terminal.show().count("hash:"), 1)
        terminal.press("e")
        terminal.wait_for("weir top by early_retries, last")
        terminal.press("x")  # has no meaning
        terminal.press("r")
        terminal.wait_for("weir top by requests, last")
        self.send(KEYS[2], 111)  # another refresh shows it
        terminal.wait_for("     111  ")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)
        self.assertTrue(terminal.is_restored(), terminal.read())
        for key in KEYS:
            self.assertNotIn(key, terminal.read())

    def test_it_follows_the_size_of_the_terminal(self):
        for key in KEYS:
            self.send(key, 1)
        terminal = self.terminal(lines=4)
        terminal.wait_for("q quit")
        self.assertEqual(terminal.show().count("hash:"), 1)
        terminal.resize(20, 160)
        eventually(lambda: terminal.show().count("hash:") == 4, "all keys")
        terminal.wait_for("q quit")
        terminal.resize(20, 80)
        terminal.wait_for("REQUESTS")
        terminal.wait_for("q quit")
        hashes = {line.split()[-1] for line in self.top("--once").stdout.splitlines()[2:]}
        self.assertEqual(set(re.findall("hash:[0-9a-f]+", terminal.show())), hashes)
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)

    def test_signals_restore_the_terminal(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number):
                terminal = self.terminal()
                terminal.wait_for("q quit")
                terminal.process.send_signal(number)
                self.assertEqual(terminal.end(), -number)
                self.assertTrue(terminal.is_restored(), terminal.read())

    def test_a_lost_instance_is_an_error_in_the_view(self):
        terminal = self.terminal()
        terminal.wait_for("q quit")
        self.weir.stop()
        terminal.wait_for("cannot connect")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)
        self.assertTrue(terminal.is_restored(), terminal.read())

    def test_keys_count_while_the_instance_hangs(self):
        """The server answers the first two requests; each later one stays open until the view ends it."""
        with self.connect_admin(self.weir) as admin:
            body = admin.get("/v1/top").body
        targets, ended = [], []

        def behaviour(exchange):
            targets.append(exchange.target)
            if len(targets) <= 2:
                return exchange.answer(body)
            ended.append(exchange.reader.fill())

        hangs = self.upstream(behaviour)
        terminal = Terminal("top", "--admin", hangs.url)
        self.addCleanup(terminal.close)
        terminal.wait_for("weir top by requests, last")
        eventually(lambda: len(targets) == 3, "a request that hangs")
        terminal.press("d")
        eventually(lambda: len(targets) == 4, "a request for the other list")
        self.assertIn("by=denied", targets[3])
        terminal.resize(30, 160)
        eventually(lambda: len(targets) == 5, "a request for more lines")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)
        eventually(lambda: len(ended) == 3, "the view ends its requests")
        self.assertNotIn("timed out", terminal.read())

    def test_a_terminal_that_cannot_be_used_is_refused(self):
        terminal = self.terminal(type="no-such-terminal")
        self.assertEqual(terminal.end(), 2)
        self.assertIn(b"the terminal type no-such-terminal cannot be used", terminal.process.stderr.read())
        terminal = self.terminal("--policy", "narow")
        self.assertEqual(terminal.end(), 1)
        self.assertNotIn("\x1b", terminal.read())
