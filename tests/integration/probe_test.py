"""`weir check --probe`: what it finds out about real application servers."""

from harness.case import Case, configuration
from harness.services import free_port
from harness.web_services import Gunicorn, Node, Php
from harness.weir import run

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


class Probes(Case):
    def probe(self, service, path="/api/items?id=1", header="X-Api-Key: s3cret"):
        up = service()
        self.addCleanup(up.stop)
        result = run("check", "--probe", f"http://127.0.0.1:{up.port}{path}", "--probe-header", header)
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
            "double encoding": "tells them apart",
            "repeated slashes": "tells them apart",
            "dot segments": "tells them apart",
            "trailing slash": "tells them apart",
            "letter case": "tells them apart",
            "repeated query parameter: id": "reads the last"})

    def test_node(self):
        self.assert_readings(self.probe(RoutedNode), {
            "encoded slash": "tells them apart",
            "double encoding": "tells them apart",
            "dot segments": "reads both alike",
            "trailing slash": "reads both alike",
            "letter case": "reads both alike",
            "parameters": "reads both alike",
            "lower-case method": "tells them apart",
            "look-alike header name: GET /api/items with X_Api_Key": "tells them apart",
            "look-alike header name: GET /api/items with X.Api.Key": "tells them apart",
            "repeated query parameter: id": "reads the first"})

    def test_php(self):
        self.assert_readings(self.probe(RoutedPhp), {
            "encoded slash": "reads both alike",
            "double encoding": "reads both alike",
            "repeated slashes": "reads both alike",
            "letter case": "tells them apart",
            "look-alike header name: GET /api/items with X_Api_Key": "reads both alike",
            "repeated query parameter: id": "reads the last"})

    def test_a_service_that_echoes_the_url(self):
        findings = self.probe(EchoingNode)
        self.assert_readings(findings, {"parameters": "reads both alike",
                                        "letter case": "tells them apart"})
        self.assertTrue(any(line.endswith("; keep parameters in paths.also_match")
                            for line in findings), findings)

    def test_only_get_requests_and_few(self):
        up = self.upstream()
        result = run("check", "--probe", up.url + "/a/b?c=d", "--probe-header", "X-A: 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("paths: not found out;", result.stdout)
        self.assertLessEqual(len(up.requests), 25)
        self.assertEqual({request.method for request in up.requests}, {"GET", "get"})

    def test_with_a_file_the_file_comes_first(self):
        up = self.upstream()
        weir = self.start(configuration(up.url))
        url = up.url + "/"
        good = run("check", "--probe", url, str(weir.file))
        self.assertEqual(good.returncode, 0)
        self.assertIn(f"{weir.file}: ok\nplain form: GET /: answered 200", good.stdout)
        asked = len(up.requests)
        weir.file.write_text("routes: wrong\n")
        bad = run("check", str(weir.file), "--probe", url)
        self.assertEqual(bad.returncode, 2)
        self.assertEqual(len(up.requests), asked)

    def test_what_cannot_be_probed(self):
        gone = run("check", "--probe", f"http://127.0.0.1:{free_port()}/")
        self.assertEqual(gone.returncode, 1)
        self.assertIn("weir check: --probe: no answer: Connection refused", gone.stderr)
        for arguments, detail in ((["--probe", "https://a/"], "--probe: expected http://"),
                                  (["--probe", ""], "--probe: expected http://"),
                                  (["--probe", "http://a/", "--probe-header", "s3cret"],
                                   "--probe-header: expected a field"),
                                  ([], "FILE is required")):
            result = run("check", *arguments)
            self.assertEqual(result.returncode, 2, result)
            self.assertIn(detail, result.stderr)
            self.assertNotIn("s3cret", result.stderr)
