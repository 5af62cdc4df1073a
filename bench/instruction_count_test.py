"""The arithmetic of script/bench instructions: python3 bench/instruction_count_test.py"""

import unittest

from instruction_count import broken_bounds, exceeds, per_request, Result, Run, table


class PerRequest(unittest.TestCase):
    def test_start_and_exit_cancel_out(self):
        start_and_exit = 30_000_000
        short = Run(300, start_and_exit + 300 * 12_614)
        long = Run(2300, start_and_exit + 2300 * 12_614)
        self.assertEqual(per_request(short, long), 12_614)

    def test_the_second_run_has_more_requests(self):
        for requests in (300, 299):
            with self.subTest(requests=requests), self.assertRaisesRegex(ValueError, f"{requests} after 300"):
                per_request(Run(300, 1), Run(requests, 2))


class Exceeds(unittest.TestCase):
    def test_is_more_than_three_percent_above_the_recorded_value(self):
        for measured, recorded, expected in (
            (10_000, 10_000, False),
            (10_300, 10_000, False),
            (10_301, 10_000, True),
            (5_000, 10_000, False),
            (10_301, None, False),
        ):
            with self.subTest(measured=measured, recorded=recorded):
                self.assertEqual(exceeds(Result("row", measured, recorded)), expected)


class Bounds(unittest.TestCase):
    def test_hold_between_rows_that_were_measured(self):
        self.assertEqual(list(broken_bounds({"one_route": 100, "distinct_routes": 110, "shared_routes": 130})), [])
        self.assertEqual(list(broken_bounds({"distinct_routes": 111})), [])
        self.assertEqual(list(broken_bounds({"one_route": 100, "distinct_routes": 111, "shared_routes": 131})),
                         ["distinct_routes costs 1.11 times one_route; at most 1.1",
                          "shared_routes costs 1.31 times one_route; at most 1.3"])


class Table(unittest.TestCase):
    def test_shows_both_values_and_their_ratio(self):
        self.assertEqual(table([
            Result("plain", 12_614.4, 12_614),
            Result("429", 10_000, 9_400),
            Result("new", 1_234_567, None),
        ]), """\
| work | instructions/request | recorded | ratio |
|---|---:|---:|---:|
| plain | 12,614 | 12,614 | 1.000 |
| 429 | 10,000 | 9,400 | 1.064 (above) |
| new | 1,234,567 | none | none |""")


if __name__ == "__main__":
    unittest.main()
