"""HTTP/2 with other people's programs: curl, nghttp, h2load, node and Chromium before Weir; nghttpd, nginx and node
behind it."""

import json
import subprocess

from harness.browser import Browser
from harness.case import configuration
from harness.http2_case import Http2Case
from harness.programs import Listening, program
from harness.services import FileServer, Nginx, free_port, is_listening
from harness.tls_case import TlsCase
from harness.upstream import answer

NODE_CLIENT = """
const http2 = require('http2');
const session = http2.connect(process.argv[1]);
const ask = body => new Promise((resolve, reject) => {
  const stream = session.request({':method': body ? 'POST' : 'GET', ':path': '/', 'x-key': '1'});
  let status, text = '';
  stream.on('response', head => status = head[':status']);
  stream.on('data', piece => text += piece);
  stream.on('end', () => resolve([status, text.length]));
  stream.on('error', reject);
  stream.end(body);
});
Promise.all([...Array(20).keys()].map(i => ask(i % 2 ? 'x'.repeat(100000) : undefined)))
  .then(all => { console.log(JSON.stringify(all)); session.close(); });
"""

NODE_SERVER = """
const http2 = require('http2');
http2.createServer().on('stream', (stream, head) => {
  const pieces = [];
  stream.on('data', piece => pieces.push(piece));
  stream.on('end', () => {
    stream.respond({':status': 200, 'x-path': head[':path'], 'x-authority': head[':authority']},
                   {waitForTrailers: true});
    stream.on('wantTrailers', () => stream.sendTrailers({'x-size': String(Buffer.concat(pieces).length)}));
    stream.end(Buffer.concat(pieces));
  });
}).listen(Number(process.argv[1]), '127.0.0.1');
"""

NGINX_HTTP2 = ("listen 127.0.0.1:{port};", "listen 127.0.0.1:{port} http2;")


class Clients(TlsCase, Http2Case):
    def begin(self):
        self.up = self.upstream(answer(b"y" * 50_000))
        listeners = [{"address": "127.0.0.1:0"}, {"address": "127.0.0.1:0", "tls": self.main.files}]
        self.weir = self.start(configuration(self.up.url, listen=listeners, access_log={}))
        plain, secure = self.weir.addresses
        return f"http://127.0.0.1:{plain[1]}/", f"https://127.0.0.1:{secure[1]}/"

    def run_program(self, *command):
        done = subprocess.run([program(command[0]), *command[1:]], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def protocols(self, count):
        return {line["protocol"] for line in self.log_lines(count)}

    def test_curl(self):
        plain, secure = self.begin()
        wanted = ["-s", "-o", "/dev/null", "-w", "%{http_version} %{http_code} %{size_download}"]
        self.assertEqual(self.run_program("curl", "--http2-prior-knowledge", *wanted, plain), "2 200 50000")
        self.assertEqual(self.run_program("curl", "--cacert", self.ca.file, *wanted, secure), "2 200 50000")
        self.assertEqual(self.run_program("curl", "--http2", *wanted, plain), "1.1 200 50000")

    def test_nghttp(self):
        for url in self.begin():
            self.assertEqual(self.run_program("nghttp", "--no-verify-peer", url), "y" * 50_000)
        self.assertEqual(self.protocols(2), {"HTTP/2.0"})

    def test_h2load(self):
        for url in self.begin():
            printed = self.run_program("h2load", "-n500", "-c5", "-m20", url)
            self.assertIn("500 succeeded, 0 failed", printed)

    def test_node(self):
        plain, _ = self.begin()
        printed = json.loads(self.run_program("node", "-e", NODE_CLIENT, plain))
        self.assertEqual(printed, [[200, 50_000]] * 20)
        self.assertEqual(self.protocols(20), {"HTTP/2.0"})

    def test_chromium(self):
        _, secure = self.begin()
        browser = Browser()
        self.addCleanup(browser.stop)
        page = browser.open("about:blank")
        page.call("Security.setIgnoreCertificateErrors", ignore=True)
        page.go(secure)
        self.assertEqual(page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol"), "h2")
        sizes = page.evaluate("Promise.all([...Array(20).keys()].map(i => fetch(`/?${i}`).then(answer => answer.text())"
                              ".then(text => text.length)))")
        self.assertEqual(sizes, [50_000] * 20)


class Nghttpd(FileServer):
    def command(self):
        return [program("nghttpd"), "--no-tls", "-a", "127.0.0.1", "-d", str(self.files), str(self.port)]


class Http2Nginx(Nginx):
    def command(self):
        command = super().command()
        file = self.root / "nginx.conf"
        old, new = (form.format(port=self.port) for form in NGINX_HTTP2)
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
        return command


class Servers(Http2Case):
    def begin(self, url):
        config = configuration(url)
        config["upstreams"]["main"]["protocol"] = "http2"
        self.weir = self.start(config)
        return [self.connect(self.weir), self.speak(self.weir)]

    def check_files(self, server):
        self.addCleanup(server.stop)
        content = bytes(range(256)) * 5000
        server.write("large", content)
        for client in self.begin(server.url):
            self.assertEqual(client.get("/large").body, content)
            self.assertEqual(client.get("/gone").status, 404)
            response = client.request("HEAD", "/large")
            self.assertEqual((response.status, response["content-length"], response.body), (200, str(len(content)), b""))

    def test_nghttpd(self):
        self.check_files(Nghttpd())

    def test_nginx(self):
        self.check_files(Http2Nginx())

    def test_node(self):
        port = free_port()
        server = Listening(["node", "-e", NODE_SERVER, str(port)], lambda: is_listening(port))
        self.addCleanup(server.stop)
        body = b"z" * 300_000
        for client in self.begin(f"http://127.0.0.1:{port}"):
            response = client.request("POST", "/a?b", {"te": "trailers"}, body)
            self.assertEqual((response.status, response["x-path"], response["x-authority"]), (200, "/a?b", "weir.test"))
            self.assertEqual(response.body, body)
        self.assertEqual(response.trailers.get("x-size"), "300000")
