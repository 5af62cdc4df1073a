"""The summary of a test run: python3 tests/summary_test.py"""

import unittest

import summary


class Summary(unittest.TestCase):
    def test_the_times_of_a_preset_are_added_up(self):
        lines = list(summary.summary([("unit: http", 1.0), ("address/unit: http", 4.0),
                                      ("address/integration: tls", 2.5)]))
        self.assertEqual(lines[:2], ["    1.0 s  all tests of release, added up",
                                     "    6.5 s  all tests of address, added up"])

    def test_the_slowest_come_first_and_are_ten(self):
        lines = list(summary.summary([(f"unit: {number}", number) for number in range(12)]))
        self.assertEqual(lines[1], "   11.0 s  unit: 11")
        self.assertEqual(lines[-1], "    2.0 s  unit: 2")
        self.assertEqual(len(lines), 1 + 10)


if __name__ == "__main__":
    unittest.main()
