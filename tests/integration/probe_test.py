"""`script/probe.py`: what it determines about fake services and real application servers."""

import importlib.util
import pathlib
import subprocess
import sys
import unittest

from harness.case import Case
from harness.services import free_port
from harness.web_services import Gunicorn, Node, Php

WSGI = '''
from urllib.parse import parse_qs


def wsgi(environ, start_response):
    query = parse_qs(environ["QUERY_STRING"])
    known = environ["PATH_INFO"] == "/api/items" and environ["REQUEST_METHOD"] == "GET"
    body = "%s %s" % (query.get("id", ["none"])[-1], environ.get("HTTP_X_API_KEY", "anonymous"))
    start_response("200 OK" if known else "404 Not Found", [("Content-Type", "text/plain")])
    return [body.encode() if known else b"none"]
'''

NODE = '''
require('http').createServer((request, response) => {
  const url = new URL(request.url, 'http://a');
  const path = url.pathname.toLowerCase().replace(/\\/$/, '').replace(/;.*$/, '');
  const known = path === '/api/items' && request.method === 'GET';
  response.statusCode = known ? 200 : 404;
  response.end(known ? `${url.searchParams.get('id')} ${request.headers['x-api-key']}` : 'none');
}).listen(Number(process.argv[2]), '127.0.0.1');
'''

ECHO = '''
require('http').createServer((request, response) => {
  const known = request.url.split(/[?;]/)[0] === '/api/items';
  response.statusCode = known ? 200 : 404;
  response.end(known ? JSON.stringify({url: request.url}) : 'none');
}).listen(Number(process.argv[2]), '127.0.0.1');
'''

PHP = '''<?php
$path = preg_replace("#/+#", "/", explode("?", rawurldecode(rawurldecode($_SERVER["REQUEST_URI"])))[0]);
if ($path !== "/api/items" || $_SERVER["REQUEST_METHOD"] !== "GET") { http_response_code(404); exit("none"); }
echo $_GET["id"] ?? "none", " ", $_SERVER["HTTP_X_API_KEY"] ?? "anonymous";
'''


class RoutedGunicorn(Gunicorn):
    source = WSGI


class RoutedNode(Node):
    source = NODE


class EchoingNode(Node):
    source = ECHO


class RoutedPhp(Php):
    source = PHP


SCRIPT = pathlib.Path(__file__).parents[2] / "script" / "probe.py"
SPEC = importlib.util.spec_from_file_location("probe", SCRIPT)
PROBE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(PROBE)


class FakeService:
    """Answers 200 to the requests that it is given, with the text beside each, and 404 to others."""

    def __init__(self, bodies):
        self.bodies = bodies
        self.asked = []

    def __call__(self, method, target, header=None):
        self.asked.append(f"{method} {target}" + ("" if header is None else " {}={}".format(*header)))
        body = self.bodies.get(self.asked[-1])
        if body == "gone":
            raise PROBE.Failure("no answer")
        if body == "limited":
            return 429, b""
        return (404, b"") if body is None else (200, body.encode())


class Readings(unittest.TestCase):
    def probe(self, bodies, url, header=None):
        self.service = FakeService(bodies)
        self.prober = PROBE.Prober("http://a" + url, header, self.service)
        self.findings = self.prober.run()

    def assert_readings(self, reading, *forms):
        for form in forms:
            with self.subTest(form=form):
                self.assertEqual([found[1] for found in self.findings if found[0].startswith(form)], [reading])

    def test_each_form_of_the_path_differs_by_one_thing(self):
        self.probe({"GET /api/items": "x"}, "/api/items")
        self.assertEqual(self.service.asked, [
            "GET /api/items", "GET /api/items", "GET /api/items-weir-probe-none", "GET /api%2Fitems",
            "GET /api/item%2573", "GET /api//items", "GET /api/weir-probe/../items", "GET /api/items/",
            "GET /API/ITEMS", "GET /api/items;weir=probe", "get /api/items"])
        self.assertTrue(self.prober.is_steady)
        self.assert_readings(PROBE.DIFFERENT, "encoded slash", "double encoding", "repeated slashes", "dot segments",
                             "trailing slash", "letter case", "parameters", "lower-case method")
        self.assert_readings(PROBE.UNKNOWN, "look-alike", "repeated query parameter")

    def test_the_query_goes_with_every_form_and_into_no_finding(self):
        self.probe({"GET /a?key=secret": "x"}, "/a?key=secret")
        self.assertIn("GET /a/?key=secret", self.service.asked)
        self.assertNotIn("secret", str(self.findings))

    def test_forms_that_a_path_does_not_have_are_not_requested(self):
        self.probe({"GET /": "x"}, "/")
        self.assert_readings(PROBE.UNKNOWN, "encoded slash", "double encoding", "trailing slash", "letter case")
        self.assert_readings(PROBE.DIFFERENT, "repeated slashes: GET //")

    def test_alike_is_the_same_status_and_body(self):
        self.probe({"GET /a/b": "x", "GET /a%2Fb": "x", "GET /A/B": "y", "GET /a/b;weir=probe": "x",
                    "GET /a/b/": "limited", "GET /a//b": "gone"}, "/a/b")
        self.assert_readings(PROBE.ALIKE, "encoded slash", "parameters")
        self.assert_readings(PROBE.DIFFERENT, "dot segments")
        self.assert_readings(PROBE.UNKNOWN, "letter case", "trailing slash", "repeated slashes")
        self.assertIn(("letter case: GET /A/B", PROBE.UNKNOWN, "it answered 200 with another body; unless that is "
                       "another resource, keep letter_case in paths.also_match"), self.findings)

    def test_the_path_of_the_request_in_a_body_makes_no_difference(self):
        for target, body, expected in (
                ("/a/b", "at /a/b.", "at {path}."), ("/a/b?x", "/a/b?x /a/b", "{path}?x {path}"),
                ("/a/b", '["\\/a\\/b","/a/b"]', '["{path}","{path}"]'), ("/a%2Fb", "/a%2Fb /a/b", "{path} {path}"),
                ("/%2561", "/%2561 /%61 /a", "{path} {path} {path}"), ("/", "a / b", "a / b"), ("/a", "", ""),
                ("/a", "/other", "/other")):
            with self.subTest(target=target, body=body):
                self.assertEqual(PROBE.without_echo(body.encode(), target), expected.encode())
        bodies = {"GET /a/b?q": r'{"url":"/a/b?q","path":"\/a\/b"}',
                  "GET /a//b?q": r'{"url":"/a//b?q","path":"\/a\/\/b"}',
                  "GET /a%2Fb?q": r'{"url":"/a%2Fb?q","path":"\/a\/b"}',
                  "GET /a/%2562?q": r'{"url":"/a/%2562?q","path":"\/a\/b"}',
                  "GET /a/b;weir=probe?q": r'{"url":"/a/b;weir=probe?q","path":"/"}',
                  "GET /a/b/?q": r'{"url":"/a/b/?q","path":"\/a\/b\/"}'}
        self.probe(bodies, "/a/b?q")
        self.assert_readings(PROBE.ALIKE, "repeated slashes", "encoded slash", "double encoding", "trailing slash")
        self.assert_readings(PROBE.UNKNOWN, "parameters")
        bodies["GET /a/b-weir-probe-none?q"] = r'{"url":"/a/b-weir-probe-none?q","path":"\/a\/b-weir-probe-none"}'
        self.probe(bodies, "/a/b?q")
        self.assert_readings(PROBE.UNKNOWN, "paths")

    def test_a_service_that_answers_any_path_alike_shows_nothing_of_paths(self):
        self.probe({"GET /a/b": "x", "GET /a/b-weir-probe-none": "x"}, "/a/b")
        self.assert_readings(PROBE.UNKNOWN, "paths")
        self.assertFalse([found for found in self.findings if found[0].startswith("encoded slash")])
        self.assert_readings(PROBE.DIFFERENT, "lower-case method")

    def test_if_bodies_differ_each_time_only_the_status_counts(self):
        answers = []

        def ask(_, target, __=None):
            answers.append(target)
            return 200 if target in ("/a/b", "/a/b/") else 404, str(len(answers)).encode()
        self.prober = PROBE.Prober("http://a/a/b", None, ask)
        self.findings = self.prober.run()
        self.assertFalse(self.prober.is_steady)
        self.assert_readings(PROBE.ALIKE, "trailing slash")
        self.assert_readings(PROBE.DIFFERENT, "letter case")

    def test_an_answer_that_is_not_a_success_cannot_serve_for_comparison(self):
        with self.assertRaisesRegex(PROBE.Failure, "^GET /a is answered 404 and 404; give the URL of something"):
            PROBE.Prober("http://a/a?b=c", None, FakeService({}))
        with self.assertRaisesRegex(PROBE.Failure, "^no answer$"):
            PROBE.Prober("http://a/a", None, FakeService({"GET /a": "gone"}))

    def test_look_alikes_of_a_field_are_compared_with_the_field(self):
        bodies = {"GET /a": "anonymous", "GET /a X-Api-Key=k": "known", "GET /a X_Api_Key=k": "known",
                  "GET /a X.Api.Key=k": "anonymous", "GET /a Authorization=k": "known"}
        self.probe(bodies, "/a", ("X-Api-Key", "k"))
        self.assert_readings(PROBE.ALIKE, "look-alike header name: GET /a with X_Api_Key")
        self.assert_readings(PROBE.DIFFERENT, "look-alike header name: GET /a with X.Api.Key")
        self.probe(bodies, "/a", ("Authorization", "k"))
        self.assert_readings(PROBE.UNKNOWN, "look-alike")
        self.probe({**bodies, "GET /a X-Api-Key=k": "anonymous"}, "/a", ("X-Api-Key", "k"))
        self.assert_readings(PROBE.UNKNOWN, "look-alike")

    def test_the_answers_to_both_orders_show_which_of_two_values_counts(self):
        for before, after, reading in (("1", "other", "reads the first"), ("other", "1", "reads the last"),
                                       ("both", "both", "reads neither alone"), ("1", "1", "reads neither alone")):
            self.probe({"GET /a?id=1&x=y": "1", "GET /a?id=weir-probe": "other", "GET /a?id=1&id=weir-probe": before,
                        "GET /a?id=weir-probe&id=1": after}, "/a?id=1&x=y")
            self.assert_readings(reading, "repeated query parameter: id")
        self.probe({"GET /a?id=1": "1", "GET /a?id=weir-probe": "1"}, "/a?id=1")
        self.assert_readings(PROBE.UNKNOWN, "repeated query parameter: id")

    def test_arguments(self):
        for url in ("http://[::1]:3000/api/items?id=1&x=?", "http://example.test/"):
            self.assertFalse(PROBE.is_wrong(url), url)
        for url in ("", "http://", "http://a", "http://a?b", "https://a/", "a/b", "http:///a", "http://a:b/",
                    "http://u@a/", "http://a/ b", "http://a/#b", "http://a/\xe9", "http://a/\r\n", "http://a:0/",
                    "http://[::1/"):
            self.assertTrue(PROBE.is_wrong(url), url)
        self.assertEqual(PROBE.parse_header("X-Api-Key:  a b "), ("X-Api-Key", "a b"))
        for text in ("", "X", "X:", ": a", "X Y: a", "X: a\r\nY: b"):
            self.assertIsNone(PROBE.parse_header(text), text)


class RealServices(Case):
    def run_script(self, *arguments):
        return subprocess.run([sys.executable, "-B", SCRIPT, *arguments], text=True, capture_output=True, timeout=60,
                              check=False)

    def probe(self, service, path="/api/items?id=1", header="X-Api-Key: s3cret"):
        up = service()
        self.addCleanup(up.stop)
        result = self.run_script(f"http://127.0.0.1:{up.port}{path}", "--header", header)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertNotIn("s3cret", result.stdout)
        first, *findings = result.stdout.splitlines()
        self.assertIn("GET /api/items: answered 200 with the same body", first)
        return findings

    def assert_readings(self, findings, expected):
        for form, reading in expected.items():
            with self.subTest(form=form):
                lines = [line for line in findings if line.startswith(form)]
                self.assertEqual(len(lines), 1, findings)
                self.assertIn(f": {reading}; ", lines[0])

    def test_gunicorn(self):
        self.assert_readings(self.probe(RoutedGunicorn), {
            "encoded slash: GET /api%2Fitems": "reads both alike",
            "double encoding": "reads them differently",
            "repeated slashes": "reads them differently",
            "dot segments": "reads them differently",
            "trailing slash": "reads them differently",
            "letter case": "reads them differently",
            "repeated query parameter: id": "reads the last"})

    def test_node(self):
        self.assert_readings(self.probe(RoutedNode), {
            "encoded slash": "reads them differently",
            "double encoding": "reads them differently",
            "dot segments": "reads both alike",
            "trailing slash": "reads both alike",
            "letter case": "reads both alike",
            "parameters": "reads both alike",
            "lower-case method": "reads them differently",
            "look-alike header name: GET /api/items with X_Api_Key": "reads them differently",
            "look-alike header name: GET /api/items with X.Api.Key": "reads them differently",
            "repeated query parameter: id": "reads the first"})

    def test_php(self):
        self.assert_readings(self.probe(RoutedPhp), {
            "encoded slash": "reads both alike",
            "double encoding": "reads both alike",
            "repeated slashes": "reads both alike",
            "letter case": "reads them differently",
            "look-alike header name: GET /api/items with X_Api_Key": "reads both alike",
            "repeated query parameter: id": "reads the last"})

    def test_a_service_that_echoes_the_url(self):
        findings = self.probe(EchoingNode)
        self.assert_readings(findings, {"parameters": "reads both alike",
                                        "letter case": "reads them differently"})
        self.assertTrue(any(line.endswith("; keep parameters in paths.also_match")
                            for line in findings), findings)

    def test_only_get_requests_and_few(self):
        up = self.upstream()
        result = self.run_script(up.url + "/a/b?c=d", "--header", "X-A: 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("paths: not determined;", result.stdout)
        self.assertLessEqual(len(up.requests), 25)
        self.assertEqual({request.method for request in up.requests}, {"GET", "get"})

    def test_what_cannot_be_probed(self):
        gone = self.run_script(f"http://127.0.0.1:{free_port()}/")
        self.assertEqual((gone.returncode, gone.stderr), (1, "probe: no answer: Connection refused\n"))
        for arguments, detail in ((["https://a/"], "URL: expected http://"), ([""], "URL: expected http://"),
                                  (["http://a/", "--header", "s3cret"], "--header: expected a field"),
                                  ([], "required: URL")):
            result = self.run_script(*arguments)
            self.assertEqual(result.returncode, 2, result)
            self.assertIn(detail, result.stderr)
            self.assertNotIn("s3cret", result.stderr)
