"""The rows, configurations and reports of script/bench: python3 bench/tables_test.py"""

import pathlib
import tempfile
import unittest

import measure
import peers
import report
from peers import Row
from tables import TABLES


def sample(cpu_us):
    return measure.Sample(cpu_us=cpu_us, store_cpu_us=0, rate=100_000 / cpu_us, p50_ms=1, p99_ms=2, memory_mb=5)


class Tables(unittest.TestCase):
    def test_rows_are_compared_with_a_row_of_their_table(self):
        for name, table in TABLES.items():
            for row in table.rows.values():
                with self.subTest(table=name, row=row.name):
                    self.assertIn(row.beside, (None, *table.rows))
                    self.assertNotEqual(row.beside, row.name)

    def test_titles_are_distinct(self):
        for name, table in TABLES.items():
            with self.subTest(table=name):
                self.assertEqual(len({row.title for row in table.rows.values()}), len(table.rows))


class LoadArguments(unittest.TestCase):
    peer = measure.Peer(pid=1, port=8080, upstream_port=9000)

    def arguments(self, **fields):
        return " ".join(measure.load_arguments(self.peer, 4, 64, Row("row", "row", **fields), first=7))

    def test_of_each_kind_of_row(self):
        ports = "port=8080 upstream_port=9000 seconds=4"
        for fields, expected in (
            ({}, f"{ports} connections=64 keys=1 routes=0 first=7 mode=keep tls=0"),
            ({"keys": 100_000}, f"{ports} connections=64 keys=100000 routes=0 first=7 mode=keep tls=0"),
            ({"connections": 512}, f"{ports} connections=512 keys=1 routes=0 first=7 mode=keep tls=0"),
            ({"mode": "tunnel"}, f"{ports} connections=64 keys=1 routes=0 first=7 mode=tunnel tls=0"),
            ({"routes": 1_000}, f"{ports} connections=64 keys=1 routes=1000 first=7 mode=keep tls=0"),
            ({"mode": "close", "tls": True}, f"{ports} connections=64 keys=1 routes=0 first=7 mode=close tls=1"),
        ):
            with self.subTest(**fields):
                self.assertEqual(self.arguments(**fields), expected)

    def test_of_a_row_with_tokens(self):
        peer = measure.Peer(pid=1, port=8080, upstream_port=9000, tokens=pathlib.Path("/made"))
        row = Row("row", "row", keys=3, token="RS256")
        self.assertEqual(measure.load_arguments(peer, 4, 64, row)[-1], "tokens=/made/tokens")


class Check(unittest.TestCase):
    def test_rejects_a_run_with_other_work_than_its_row(self):
        for denied, failed, refused, expected in (
            (False, 0, 0, None),
            (True, 0, 998, None),  # the limit's first requests pass
            (False, 1, 0, "weir, title: 1 requests failed"),
            (False, 0, 11, "weir, title: 11 of 1000 requests refused, not 0"),
            (True, 0, 500, "weir, title: 500 of 1000 requests refused, not 1000"),
        ):
            with self.subTest(denied=denied, failed=failed, refused=refused):
                row = Row("row", "title", limited=True, denied=denied)
                counts = {"requests": 1000, "failed": failed, "refused": refused}
                if expected is None:
                    measure.check("weir", row, counts)
                else:
                    with self.assertRaises(RuntimeError) as caught:
                        measure.check("weir", row, counts)
                    self.assertEqual(str(caught.exception), expected)


class Configurations(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="weir-bench-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def written(self, configure, **fields):
        """The text of each file that a peer gets, all in one."""
        work = peers.Work(Row("row", "row", **fields), port=8080, upstream_port=9000, directory=self.directory,
                          log=None, certificate=pathlib.Path("/certificates"))
        configure(work, "weir")
        return "\n".join(path.read_text() for path in sorted(self.directory.iterdir()))

    def test_without_routes_one_takes_everything(self):
        self.assertIn("location / {", self.written(peers.nginx))
        self.assertIn("default_backend service", self.written(peers.haproxy))
        self.assertIn("- {match: {path: /**}, upstream: service}", self.written(peers.weir))

    def test_each_peer_has_every_route(self):
        for configure, form in (
            (peers.nginx, "location /route{}/ {{ proxy_pass http://service; }}"),
            (peers.haproxy, "/route{}/ service\n"),
            (peers.weir, "- {{match: {{path: /route{}/**}}, upstream: service}}"),
        ):
            text = self.written(configure, routes=1_000)
            with self.subTest(peer=configure.__name__):
                self.assertEqual([number for number in range(1_001) if text.count(form.format(number)) != 1], [1_000])

    def test_haproxy_finds_routes_by_its_index(self):
        text = self.written(peers.haproxy, routes=2)
        self.assertIn(f"use_backend %[path,map_beg({self.directory}/backends.map)]", text)
        self.assertNotIn("default_backend", text)

    def test_a_limit_counts_on_every_route(self):
        self.assertIn("limit_req zone=bench", self.written(peers.nginx, routes=2, limited=True).partition("location")[0])
        self.assertEqual(self.written(peers.weir, routes=2, limited=True).count("{policy: bench, key: api_key}"), 2)

    def test_nginx_forwards_an_upgrade_only_for_tunnels(self):
        self.assertIn("proxy_set_header Upgrade $http_upgrade;", self.written(peers.nginx, mode="tunnel"))
        for mode in ("keep", "close"):
            text = self.written(peers.nginx, mode=mode)
            self.assertNotIn("Upgrade", text)
            self.assertIn('proxy_set_header Connection "";', text)

    def test_tls_is_the_same_for_all(self):
        for configure, version, group, certificate in (
            (peers.nginx, "ssl_protocols TLSv1.3;", "ssl_ecdh_curve X25519;", "/certificates/crt.pem"),
            (peers.haproxy, "ssl-min-ver TLSv1.3", "curves X25519", "/certificates/both.pem"),
            (peers.weir, 'min_version: "1.3"', "groups: [X25519]", "/certificates/crt.pem"),
        ):
            with self.subTest(peer=configure.__name__):
                text = self.written(configure, tls=True)
                for expected in (version, group, certificate):
                    self.assertIn(expected, text)
                self.assertNotIn("/certificates", self.written(configure))


class Report(unittest.TestCase):
    rows = {row.name: row for row in (Row("kept", "kept"), Row("c512", "512 connections", beside="kept"))}
    results = {
        "kept": {"nginx": [sample(20), sample(10), sample(40)], "weir": [sample(10), sample(10), sample(20)]},
        "c512": {"nginx": [sample(30), sample(20), sample(40)], "weir": [sample(15), sample(30), sample(20)]},
    }

    def test_shows_medians_and_the_medians_of_ratios(self):
        self.assertEqual(report.table(self.rows, {"kept": self.results["kept"]}), """\
| work | proxy | CPU µs/request | requests/s | p50 ms | p99 ms | memory MB |
|---|---|---:|---:|---:|---:|---:|
| kept | nginx | 20.0 (1.00) | 5,000 (1.00) | 1.00 (1.00) | 2.00 (1.00) | 5.0 (1.00) |
| kept | weir | 10.0 (0.50) | 10,000 (2.00) | 1.00 (1.00) | 2.00 (1.00) | 5.0 (1.00) |""")

    def test_compares_rows_round_by_round(self):
        self.assertEqual(report.comparisons(self.rows, self.results), """\
| CPU time per request of | beside | nginx | weir |
|---|---|---:|---:|
| 512 connections | kept | 1.50 | 1.50 |""")

    def test_compares_only_rows_that_were_measured(self):
        only = {"c512": self.rows["c512"]}
        self.assertEqual(report.comparisons(only, {"c512": self.results["c512"]}), "")
        self.assertEqual(report.comparisons({"kept": self.rows["kept"]}, {"kept": self.results["kept"]}), "")


if __name__ == "__main__":
    unittest.main()
