#!/usr/bin/env python3
"""A small service to put behind Weir: demo_upstream.py PORT

GET  /                 what there is
GET  /healthz          200 ok
GET  /v1/items         a list
GET  /v1/items/{id}    one of them, or 404
GET  /v1/search?q=     what the query finds
*    /echo, /keys/...  the request as it arrived: method, path, fields, body
GET  /slow?ms=         answers after that many milliseconds
GET  /status/{code}    answers with that status
"""

import http.server
import json
import sys
import time
import urllib.parse

ITEMS = {number: {"id": number, "name": name} for number, name in enumerate(
    ("sluice", "gate", "spillway", "basin", "gauge", "crest"), start=1)}


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keep-alive
    disable_nagle_algorithm = True

    def answer(self, status, value):
        body = b"" if status in (204, 304) else (json.dumps(value) + "\n").encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        if status != 204:  # RFC 9110 section 8.6
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            parts = []
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():  # trailer fields
                pass
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def respond(self):
        target = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(target.query))
        body = self.body()
        match target.path.strip("/").split("/"):
            case [""]:
                self.answer(200, {"try": ["/v1/items", "/v1/items/1", "/v1/search?q=g", "/echo", "/slow?ms=500"]})
            case ["healthz"]:
                self.answer(200, {"status": "ok"})
            case ["v1", "items"]:
                self.answer(200, list(ITEMS.values()))
            case ["v1", "items", number] if number.isdecimal() and int(number) in ITEMS:
                self.answer(200, ITEMS[int(number)])
            case ["v1", "search"]:
                self.answer(200, [item for item in ITEMS.values() if query.get("q", "") in item["name"]])
            case ["echo"] | ["keys", *_]:
                self.answer(200, {"method": self.command, "path": self.path, "headers": self.headers.items(),
                                  "body": body.decode(errors="replace")})
            case ["slow"] if query.get("ms", "1000").isdecimal():
                time.sleep(min(int(query.get("ms", "1000")), 60_000) / 1000)
                self.answer(200, {"slept_ms": int(query.get("ms", "1000"))})
            case ["status", code] if code.isdecimal() and 200 <= int(code) <= 599:
                self.answer(int(code), {"status": int(code)})
            case _:
                self.answer(404, {"error": "no such thing", "path": self.path})

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = respond

    def log_message(self, *_):
        pass  # the access log is Weir's


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].isdecimal():
        sys.exit(__doc__)
    with Server(("127.0.0.1", int(sys.argv[1])), Service) as server:
        print(f"port {server.server_port}", flush=True)  # 0 as PORT picks a free one
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
