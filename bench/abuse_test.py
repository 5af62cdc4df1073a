"""The judgement of script/bench abuse --judge: python3 bench/abuse_test.py"""

import unittest

from abuse import judged, options_of


class Judged(unittest.TestCase):
    def test_medians_are_compared(self):
        for usual, under, expected in (
            ([1.0], [2.0], True),
            ([1.0], [2.01], False),
            ([1.0, 9.0, 1.1], [2.1, 0.1, 50.0], True),
            ([1.0, 0.1, 1.1], [2.1, 2.1, 0.1], False),
        ):
            with self.subTest(usual=usual, under=under):
                self.assertEqual(judged(usual, under), expected)


class Options(unittest.TestCase):
    def test_rounds(self):
        self.assertIsNone(options_of([]).judge)
        self.assertEqual(options_of(["--judge"]).judge, 5)
        self.assertEqual(options_of(["--judge", "3", "--attacks", "handshakes"]).judge, 3)

    def test_what_cannot_be_judged(self):
        for arguments in (["--judge", "0"], ["--judge", "--attacks", "idle"]):
            with self.subTest(arguments), self.assertRaises(SystemExit):
                options_of(arguments)


if __name__ == "__main__":
    unittest.main()
