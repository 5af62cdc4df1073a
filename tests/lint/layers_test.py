"""The layer check must see what it is for: python3 tests/lint/layers_test.py"""

import unittest

import layers

ROOMS = """
weir_room(base)
weir_room(rules USES base)
weir_room(store USES base rules
          LIBRARIES asio)
"""


class Edges(unittest.TestCase):
    def test_are_read_from_the_room_lines(self):
        self.assertEqual(layers.edges(ROOMS), {
            "base": {"base"},
            "rules": {"rules", "base"},
            "store": {"store", "base", "rules"},
        })


    def test_that_are_listed_and_not_used_are_found(self):
        used = {"rules": {"base"}, "store": {"rules"}}
        self.assertEqual(list(layers.unused_complaints(layers.edges(ROOMS), used)),
                         ["store lists base and uses nothing of it; remove it"])

    def test_go_down(self):
        self.assertEqual(list(layers.order_complaints(layers.edges(ROOMS))), [])
        upward = layers.edges("weir_room(base USES rules)\nweir_room(rules USES base)")
        self.assertEqual(list(layers.order_complaints(upward)),
                         ["base uses rules, which is not listed above it"])


class Complaints(unittest.TestCase):
    def of(self, room, line):
        return [number for number, _ in layers.complaints_of(room, [line], layers.edges(ROOMS))]

    def test_downward_and_own_includes_are_fine(self):
        for room, line in (
            ("store", '#include "rules/policy.hpp"'),
            ("rules", '#include "rules/policy.hpp"'),
            ("rules", "#include <chrono>"),
            ("rules", '#include "catch.hpp"'),
            ("rules", '// unlike "store/claim.hpp", no steady_clock::now() here'),
            ("rules", "#include <boost/beast/http/field.hpp>"),
            ("rules", "const auto w = next_time(0);"),
            ("rules", "const Clock clock = Clock::argument;"),
            ("base", "settle(clock_->now());"),
            ("base", "now = std::chrono::steady_clock::now();"),
            ("base", "#include <boost/asio.hpp>"),
            ("rules", "beast::store::Policy policy; log(\"store::\");"),
        ):
            with self.subTest(line=line):
                self.assertEqual(self.of(room, line), [])

    def test_upward_includes_and_impure_lines_are_found(self):
        for room, line in (
            ("base", '#include "rules/policy.hpp"'),
            ("rules", '#include "store/claim.hpp"'),
            ("rules", '  #  include "store/claim.hpp"'),
            ("base", "std::vector<rules::Policy> policies;"),
            ("rules", "#include <boost/asio.hpp>"),
            ("rules", "#include <boost/beast/core.hpp>"),
            ("rules", "#include <spdlog/spdlog.h>"),
            ("rules", "#include <yaml-cpp/yaml.h>"),
            ("rules", "auto t = std::chrono::steady_clock::now();"),
            ("rules", "auto t = Clock::now();"),
            ("rules", "auto t = std::time(nullptr);"),
            ("rules", "settle(clock.now());"),
            ("rules", "settle(clock_->now());"),
            ("rules", "settle(context.pass_clock().now ());"),
            ("rules", "const MonotonicClock& clock;"),
            ("rules", '#include "base/clock.hpp"'),
        ):
            with self.subTest(line=line):
                self.assertEqual(self.of(room, line), [1])


if __name__ == "__main__":
    unittest.main()
