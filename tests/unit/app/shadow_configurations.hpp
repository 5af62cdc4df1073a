// Configurations of which one is tried in shadow: one policy, whose rate differs.
#pragma once

#include <chrono>
#include <string>

#include "app/source.hpp"
#include "catch.hpp"

namespace weir::app {

inline LoadedConfig shadow_config(const std::string& rate) {
  const auto loaded = text_source("weir.yaml", R"(
listen: [{address: "127.0.0.1:0"}]
admin: off
access_log: off
workers: 1
policies: {per_client: {algorithm: fixed_window, rate: )" +
                                                   rate + R"(}}
routes: [{name: all, respond: {status: 200}, limits: [{policy: per_client}]}]
)")
                          .load(std::chrono::seconds(1), nullptr);
  REQUIRE(loaded.has_value());
  return *loaded;
}

}  // namespace weir::app
