"""The check of libraries must find what it is for: python3 tests/lint/libraries_test.py"""

import unittest

import libraries

ROOMS = """
weir_room(http USES base)
weir_room(loop USES base LIBRARIES asio)
weir_room(config USES base http
          LIBRARIES yaml-cpp)
weir_unit(loop server server.cpp
          body.cpp)
"""


class Complaints(unittest.TestCase):
    def of(self, **files):
        named = {name.replace("__", "/") + ".hpp": text for name, text in files.items()}
        return list(libraries.complaints(named, ROOMS))

    def test_a_listed_library_is_fine(self):
        self.assertEqual(self.of(loop__io="#include <boost/asio/io_context.hpp>",
                                 loop__stream='#include "loop/io.hpp"',
                                 config__document="#include <yaml-cpp/yaml.h>",
                                 http__names="#include <boost/beast/http/field.hpp>"), [])

    def test_a_library_that_is_not_listed_is_found(self):
        self.assertEqual(self.of(http__view="\n#include <spdlog/spdlog.h>"),
                         ["src/http/view.hpp:2: reaches spdlog::spdlog through spdlog/spdlog.h,"
                          " and http does not list it"])

    def test_it_is_found_through_other_headers(self):
        self.assertEqual(
            self.of(loop__io="#include <boost/asio/io_context.hpp>", loop__stream='#include "loop/io.hpp"',
                    config__options='#include "loop/stream.hpp"'),
            ["src/config/options.hpp:1: reaches asio through loop/stream.hpp -> loop/io.hpp ->"
             " boost/asio/io_context.hpp, and config does not list it"])

    def test_the_configuration_links_no_asio_through_other_rooms(self):
        rooms = ROOMS.replace("config USES base http", "fetch USES loop LIBRARIES asio)\nweir_room(config USES fetch")
        self.assertEqual(list(libraries.complaints({}, rooms)),
                         [f"CMakeLists.txt:1: config must not link asio, which it does through {room}"
                          for room in ("fetch", "loop")])

    def test_the_implementation_of_asio_is_in_no_room(self):
        for header in ("boost/asio/impl/src.hpp", "boost/asio/ssl.hpp", "boost/asio/ssl/context.hpp"):
            self.assertEqual(self.of(loop__io=f"#include <{header}>"),
                             [f"src/loop/io.hpp:1: includes {header}, which no file of src may: cmake/asio.cpp compiles"
                              " Asio, and TLS is used through the room tls"])
        self.assertEqual(self.of(loop__io="#include <boost/asio/ip/tcp.hpp>"), [])

    def test_headers_that_include_each_other_are_read_once(self):
        self.assertEqual(self.of(loop__a='#include "loop/b.hpp"', loop__b='#include "loop/a.hpp"'), [])

    def test_a_slow_library_is_compiled_apart_from_its_room(self):
        files = {"loop/body.hpp": "#include <boost/beast/http.hpp>", "loop/body.cpp": '#include "loop/body.hpp"',
                 "loop/server.cpp": '#include "loop/body.hpp"', "loop/stream.cpp": '#include "loop/body.hpp"'}
        self.assertEqual(list(libraries.complaints(files, ROOMS)),
                         ["src/loop/stream.cpp: reaches Beast through loop/body.hpp -> boost/beast/http.hpp,"
                          " and is in no weir_unit() line"])


if __name__ == "__main__":
    unittest.main()
