"""Real application servers as upstreams, each on its own port: gunicorn (WSGI), uvicorn (ASGI),
php -S and node.

Each answers every request with JSON that shows how an application on that server reads it. The keys
are the same for all:

method        as the application sees it
path          WSGI: PATH_INFO; ASGI: scope["path"]; PHP: the path of REQUEST_URI; node: that of req.url
decoded_path  the same, percent-decoded once where the server has not done so
parsed_paths  what parsers of URLs make of it: new URL() in node, parse_url() in PHP; decoded
query         name to the list of values that the usual parser keeps: parse_qs, $_GET, URLSearchParams
fields        WSGI and PHP: the HTTP_* variables; ASGI and node: names in lower case
cookies       name to value: SimpleCookie, $_COOKIE, the rule of node's cookie package

An application on one of them that looks up one value reads query[name] differently: PHP keeps the
last, node's get() and WSGI frameworks return the first or the last of the list.
"""

import json

from .client import Connection
from .programs import program
from .services import FileServer

PYTHON = '''
import json
from http.cookies import SimpleCookie
from urllib.parse import parse_qs


def reading(method, path, query, fields, cookie):
    return json.dumps({
        "method": method, "path": path, "decoded_path": path, "parsed_paths": [],
        "query": parse_qs(query, keep_blank_values=True), "fields": fields,
        "cookies": {name: morsel.value for name, morsel in SimpleCookie(cookie).items()},
    }).encode()


def wsgi(environ, start_response):
    environ["wsgi.input"].read()
    fields = {name: value for name, value in environ.items() if name.startswith("HTTP_")}
    body = reading(environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"],
                   fields, environ.get("HTTP_COOKIE", ""))
    start_response("200 OK", [("Content-Type", "application/json"),
                              ("Content-Length", str(len(body)))])
    return [body]


async def asgi(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    body = reading(scope["method"], scope["path"], scope["query_string"].decode("latin-1"), fields,
                   fields.get("cookie", ""))
    await send({"type": "http.response.start", "status": 200,
                "headers": [(b"content-type", b"application/json"),
                            (b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})
'''

PHP = '''<?php
$path = explode("?", $_SERVER["REQUEST_URI"], 2)[0];
$fields = array_filter($_SERVER, fn($name) => str_starts_with($name, "HTTP_"), ARRAY_FILTER_USE_KEY);
header("Content-Type: application/json");
echo json_encode([
    "method" => $_SERVER["REQUEST_METHOD"],
    "path" => $path,
    "decoded_path" => rawurldecode($path),
    "parsed_paths" => array_map("rawurldecode",
                                array_filter([parse_url($_SERVER["REQUEST_URI"], PHP_URL_PATH)])),
    "query" => (object) array_map(fn($value) => array_values((array) $value), $_GET),
    "fields" => (object) $fields,
    "cookies" => (object) $_COOKIE,
], JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES);
'''

NODE = '''
const cookies = (text) => {
  const found = {};
  for (const pair of text.split(';')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    if (at >= 0 && !(name in found)) found[name] = pair.slice(at + 1).trim();
  }
  return found;
};
require('http').createServer((request, response) => {
  const [path, ...rest] = request.url.split('?');
  const parameters = new URLSearchParams(rest.join('?'));
  const query = Object.fromEntries([...parameters.keys()].map((name) => [name, parameters.getAll(name)]));
  let decoded = path;
  try { decoded = decodeURIComponent(path); } catch { /* not UTF-8 */ }
  const parsed = [];
  try { parsed.push(decodeURIComponent(new URL(request.url, 'http://weir.test').pathname)); } catch { /* no URL */ }
  const body = JSON.stringify({
    method: request.method, path, decoded_path: decoded, parsed_paths: parsed, query, fields: request.headers,
    cookies: cookies(request.headers.cookie || ''),
  });
  request.resume().on('end', () => {
    response.setHeader('Content-Type', 'application/json');
    response.end(body);
  });
}).listen(Number(process.argv[2]), '127.0.0.1');
'''


class WebService(FileServer):
    """An application server that answers with its reading of the request."""

    file, source = "", ""

    def launch(self):
        (self.root / self.file).write_text(self.source, encoding="utf-8")
        super().launch()

    def read(self, method="GET", target="/", fields=(), **options):
        """How it reads a request that reaches it without Weir."""
        with Connection(("127.0.0.1", self.port)) as client:
            return json.loads(client.request(method, target, fields, **options).body)


class Gunicorn(WebService):
    file, source = "echo.py", PYTHON

    def command(self):
        return [program("gunicorn"), "--chdir", str(self.root), "--bind", f"127.0.0.1:{self.port}",
                "--workers", "1", "--worker-tmp-dir", str(self.root), "echo:wsgi"]


class Uvicorn(WebService):
    file, source = "echo.py", PYTHON

    def command(self):
        return [program("uvicorn"), "--app-dir", str(self.root), "--host", "127.0.0.1", "--port",
                str(self.port), "echo:asgi"]


class Php(WebService):
    file, source = "echo.php", PHP

    def command(self):
        return [program("php"), "-S", f"127.0.0.1:{self.port}", str(self.root / self.file)]


class Node(WebService):
    file, source = "echo.js", NODE

    def command(self):
        return [program("node"), str(self.root / self.file), str(self.port)]


class Fastify(Node):
    """A router that begins the query at a semicolon too, as Fastify 4 does by default."""

    source = NODE.replace("split('?')", "split(/[?;]/)")


ALL = (Gunicorn, Uvicorn, Php, Node)
