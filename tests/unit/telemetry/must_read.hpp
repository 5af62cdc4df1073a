// Reads the JSON that a test expects to be valid.
#pragma once

#include <string>

#include "catch.hpp"
#include "json/read.hpp"

namespace weir::telemetry::test {

inline json::Value must_read(const std::string& text) {
  CAPTURE(text);
  auto value = json::read(text, {});
  REQUIRE(value.has_value());
  return *std::move(value);
}

}  // namespace weir::telemetry::test
