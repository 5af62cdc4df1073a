#!/usr/bin/env python3
"""Tests which spellings of a request a service treats as the same: script/probe.py URL [--header 'NAME: VALUE']

URL is something that the service serves, such as http://127.0.0.1:3000/api/items?id=1. Without TLS, and directly,
not through Weir. Sends about 20 GET requests, one at a time. If two spellings get the same status and body, apart from
the path of the request in the body, the service reads both alike, and a limit on one has to hold for the other.
Exit code 1: the service gave no answer that can be compared; 2: the arguments are wrong.
"""

import argparse
import http.client
import re
import signal
import socket
import sys
import urllib.parse

TIMEOUT = 5  # seconds, for a whole request
MOST_BODY = 1024 * 1024
ALIKE = "reads both alike"
DIFFERENT = "reads them differently"
UNKNOWN = "not determined"
BOUNDS = """\
Determined with GET requests for this path alone. A difference that changes no answer is not seen. Other paths and
methods, bodies, cookies, resources that need a login, and proxies that the requests did not pass are not tested.
"""


class Failure(Exception):
    """The service gave no answer, or none that can be compared. The text is for the user."""


def is_wrong(url):
    """True unless the URL is http://HOST[:PORT]/PATH[?QUERY]."""
    try:
        parts = urllib.parse.urlsplit(url)
        return (parts.scheme != "http" or not parts.hostname or parts.port == 0 or not parts.path
                or "@" in parts.netloc or re.search(r"[^!-~]|#", url) is not None)
    except ValueError:
        return True


def parse_header(text):
    """Returns name and value of 'NAME: VALUE', or None. The value may be a secret."""
    found = re.fullmatch(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*[^\x00-\x20\x7f])[ \t]*", text)
    return found and found.groups()


class Client:
    """Sends each request on a connection of its own, byte by byte: a library would normalise its spelling."""

    def __init__(self, url):
        self.parts = urllib.parse.urlsplit(url)

    def __call__(self, method, target, header=None):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.parts.netloc}", "User-Agent: weir-probe",
                 "Connection: close"]
        lines += [f"{header[0]}: {header[1]}"] if header else []
        signal.setitimer(signal.ITIMER_REAL, TIMEOUT)
        try:
            with socket.create_connection((self.parts.hostname, self.parts.port or 80)) as connection:
                connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
                with http.client.HTTPResponse(connection, method="GET") as response:
                    response.begin()
                    body = response.read(MOST_BODY + 1)
                    if len(body) > MOST_BODY:
                        raise Failure(f"the body of the answer is larger than {MOST_BODY} bytes")
                    if response.length:
                        raise Failure("the answer ends before its body is complete")
                    return response.status, body
        except OSError as error:
            raise Failure(f"no answer: {error.strerror or error}") from None
        except http.client.HTTPException as error:
            raise Failure(f"the answer is not valid HTTP/1.1: {type(error).__name__}") from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def on_timeout(*_):
    raise TimeoutError(f"timed out after {TIMEOUT} s")


def without_echo(body, target):
    """The body with a mark for each path of `target`: as sent, percent-decoded once or twice, slashes escaped as in
    JSON or not. Services echo the path in links and messages. The path "/" stays: a slash is rarely an echo."""
    spelling = target.partition("?")[0].encode()
    for _ in range(3):
        if len(spelling) > 1:
            body = body.replace(spelling, b"{path}").replace(spelling.replace(b"/", b"\\/"), b"{path}")
        spelling = urllib.parse.unquote_to_bytes(spelling)
    return body


def path_forms(path):
    """Name, path (None: this path has no such form), the advice if the service reads both alike, and if not."""
    slash = path.rstrip("/").rfind("/") if path.strip("/") else 0
    letter = max((at for at, c in enumerate(path) if c.isalpha()), default=None)
    yield ("encoded slash", f"{path[:slash]}%2F{path[slash + 1:]}" if slash else None,
           "keep encoded_slashes: refuse; match_both on a route limits both readings",
           "set encoded_slashes: match_both on a route only if its paths need %2F")
    yield ("double encoding",
           None if letter is None else f"{path[:letter]}%25{ord(path[letter]):02X}{path[letter + 1:]}",
           "keep double_encoding: refuse, because the service decodes twice",
           "set double_encoding: pass on a route only if its paths need it")
    for name, key, form in (
            ("repeated slashes", "repeated_slashes", path[:slash] + "/" + path[slash:]),
            ("dot segments", "dot_segments", path[:slash] + "/weir-probe/.." + path[slash:]),
            ("trailing slash", "trailing_slash",
             None if path == "/" else path[:-1] if path.endswith("/") else path + "/"),
            ("letter case", "letter_case", None if letter is None else path.swapcase()),
            ("parameters", "parameters", path + ";weir=probe")):
        yield name, form, f"keep {key} in paths.also_match", f"this path needs no {key} in paths.also_match"


class Prober:
    """`ask(method, target, header)` returns status and body. Findings are (form, reading, advice)."""

    def __init__(self, url, header, ask):
        parts = urllib.parse.urlsplit(url)
        self.path, self.query, self.header, self.ask = parts.path, parts.query, header, ask
        self.findings = []
        self.plain = self.ask("GET", self.with_query(self.path))
        again = self.ask("GET", self.with_query(self.path))
        if self.plain[0] >= 400 or again[0] != self.plain[0]:
            raise Failure(f"GET {self.path} is answered {self.plain[0]} and {again[0]}; "
                          "give the URL of something that the service serves")
        self.is_steady = again == self.plain

    def run(self):
        self.test_paths()
        self.compare("lower-case method", "get", self.with_query(self.path),
                     "name methods in capitals only: Weir refuses other spellings with 400",
                     "a method in lower case is another method; methods can name it if it is no standard one")
        self.test_header()
        self.test_parameters()
        return self.findings

    def with_query(self, path):
        return f"{path}?{self.query}" if self.query else path

    def same(self, one, other):
        return one[0] == other[0] and (not self.is_steady or one[1] == other[1])

    def same_but_for_path(self, answer, target):
        return self.same(answer, self.plain) or (
            answer[0] == self.plain[0]
            and without_echo(answer[1], target) == without_echo(self.plain[1], self.path))

    def add(self, form, reading, advice):
        self.findings.append((form, reading, advice))

    def answer_to(self, form, method, target, header=None):
        """The answer, or None and a finding: a limit or a failure does not show how the request was read."""
        try:
            answer = self.ask(method, target, header)
        except Failure as failure:
            return self.add(form, UNKNOWN, str(failure))
        if answer[0] == 429 or answer[0] >= 500:
            return self.add(form, UNKNOWN, f"it answered {answer[0]}")
        return answer

    def compare(self, name, method, target, if_alike, if_different):
        form = f"{name}: {method} {target.partition('?')[0]}"
        answer = self.answer_to(form, method, target)
        if answer is None:
            return
        if self.same_but_for_path(answer, target):
            self.add(form, ALIKE, if_alike)
        elif answer[0] != self.plain[0]:
            self.add(form, DIFFERENT, if_different)
        else:
            self.add(form, UNKNOWN, f"it answered {answer[0]} with another body; "
                                    f"unless that is another resource, {if_alike}")

    def test_paths(self):
        missing = f"{self.path}-weir-probe-none"
        answer = self.answer_to(f"another path: GET {missing}", "GET", self.with_query(missing))
        if answer is None:
            return
        if self.same_but_for_path(answer, missing):
            self.add("paths", UNKNOWN, f"GET {missing} is answered alike, so answers do not show which path the "
                                       "service reads; choose a URL whose answer is its own")
            return
        for name, path, if_alike, if_different in path_forms(self.path):
            if path is None:
                self.add(name, UNKNOWN, "the path of the URL has no such form")
            else:
                self.compare(name, "GET", self.with_query(path), if_alike, if_different)

    def test_header(self):
        name_of_form = "look-alike header name"
        if not self.header:
            return self.add(name_of_form, UNKNOWN,
                            "give a field that changes the answer with --header 'NAME: VALUE'")
        name, value = self.header
        target = self.with_query(self.path)
        expected = self.answer_to(f"header: GET {self.path} with {name}", "GET", target, self.header)
        if expected is None:
            return None
        if self.same(expected, self.plain):
            return self.add(name_of_form, UNKNOWN, f"the answer is the same without {name}")
        if "-" not in name:
            return self.add(name_of_form, UNKNOWN, "the name has no - in it")
        for other in (name.replace("-", "_"), name.replace("-", ".")):
            form = f"{name_of_form}: GET {self.path} with {other}"
            answer = self.answer_to(form, "GET", target, (other, value))
            if answer is None:
                continue
            if self.same(answer, expected):
                self.add(form, ALIKE, "Weir refuses it with 400 beside an identity; "
                                      "downstream.unusual_field_names: drop removes it instead")
            else:
                self.add(form, DIFFERENT, "nothing to set")
        return None

    def test_parameters(self):
        form = "repeated query parameter"
        first = self.query.partition("&")[0]
        name, equals, _ = first.partition("=")
        if not name or not equals:
            return self.add(form, UNKNOWN, "give the URL a query parameter that changes the answer, such as ?id=1")
        form += f": {name}"
        other = f"{name}=weir-probe"
        answers = []
        for query in (other, f"{first}&{other}", f"{other}&{first}"):
            answers.append(self.answer_to(form, "GET", f"{self.path}?{query}"))
            if answers[-1] is None:
                return None
            if query == other and self.same(answers[0], self.plain):
                return self.add(form, UNKNOWN, "the answer is the same with another value")
        before, after = (self.same(answer, self.plain) for answer in answers[1:])
        if before == after:
            return self.add(form, "reads neither alone", "leave repeated: refuse")
        order = "first" if before else "last"
        return self.add(form, f"reads the {order}", f"repeated: {order} is enough here")


def main():
    usage, _, description = __doc__.partition("\n")
    parser = argparse.ArgumentParser(usage=usage.partition(": ")[2], description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", metavar="URL")
    parser.add_argument("--header", metavar="'NAME: VALUE'",
                        help="a field that changes the answer, to try look-alikes of its name")
    options = parser.parse_args()
    if is_wrong(options.url):
        parser.error("URL: expected http://HOST:PORT/PATH of something that the service serves, such as "
                     "http://127.0.0.1:3000/api/items")
    header = parse_header(options.header) if options.header is not None else None
    if options.header is not None and header is None:
        parser.error("--header: expected a field, such as 'X-Api-Key: VALUE'")
    signal.signal(signal.SIGALRM, on_timeout)
    try:
        prober = Prober(options.url, header, Client(options.url))
    except Failure as failure:
        sys.exit(f"probe: {failure}")
    print(f"plain form: GET {prober.path}: answered {prober.plain[0]}",
          "with the same body each time" if prober.is_steady
          else "with another body each time, so only status codes count")
    for form, reading, advice in prober.run():
        print(f"{form}: {reading}; {advice}")
    print(BOUNDS, end="")


if __name__ == "__main__":
    main()
