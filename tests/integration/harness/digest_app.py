"""A WSGI application that answers with the digest of the body, and kills its own server when a request asks for it.

`X-Kill: NAME` and `X-Kill-After: N`: the server of that name gets SIGKILL, all of its processes, when N bytes of the
body have arrived. Each request adds a line to the file DIGEST_LOG: server, method, target. The answer is a head alone,
which gunicorn sends in one piece.
"""

import hashlib
import os
import signal

NAME = os.environ["DIGEST_NAME"]
LOG = os.open(os.environ["DIGEST_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def app(environ, start_response):
    os.write(LOG, f"{NAME} {environ['REQUEST_METHOD']} {environ['RAW_URI']}\n".encode())
    body, hashed = environ["wsgi.input"], hashlib.sha256()
    if environ.get("HTTP_X_KILL") == NAME:
        body.read(int(environ["HTTP_X_KILL_AFTER"]))
        os.killpg(0, signal.SIGKILL)
    while piece := body.read(65536):
        hashed.update(piece)
    start_response("200 OK", [("Content-Length", "0"), ("X-Server", NAME), ("X-Digest", hashed.hexdigest())])
    return []
