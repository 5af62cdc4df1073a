// An offline instance with a configuration of the test.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "catch.hpp"
#include "config/load.hpp"
#include "offline/instance.hpp"

namespace weir::offline::test {

using namespace std::chrono_literals;

inline const Instant start = instant_from_us(1'767'225'600'000'000);  // 2026-01-01T00:00:00Z

struct Site {
  explicit Site(const std::string& yaml) {
    auto loaded = config::load_text(yaml, config::process_environment("weir.yaml"));
    if (!loaded) FAIL(loaded.error().front().to_string());
    config = *loaded;
    instance = std::make_unique<Instance>(config->proxy, config->limiter,
                                          store::MemoryStoreOptions{.max_keys = 10'000});
  }

  /// A request of 192.0.2.`host`, `after` the start. Takes no events.
  Request& receive(const std::string& target, Duration after = 0s, int host = 1,
                   const std::string& fields = {}, const std::string& body = {}) {
    const std::string length =
        body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n";
    head = "POST " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + length + "\r\n";
    return instance->receive({.head = head,
                              .body = body,
                              .peer = IpAddress::v4({192, 0, 2, static_cast<unsigned char>(host)})},
                             start + after);
  }
  /// The same for one that ends at once with this status. Returns its outcome.
  limiter::Outcome pass(const std::string& target, Duration after = 0s, int status = 200) {
    Request& request = receive(target, after);
    const limiter::Outcome outcome = request.verdict().outcome;
    end(request, after, status);
    return outcome;
  }
  void end(Request& request, Duration after, int status = 200, std::string_view body = {}) {
    const http::FieldView json{.name = "content-type", .value = "application/json"};
    instance->end(request, {.how = {.status = status}, .fields = {&json, 1}, .body = body},
                  start + after);
  }

  std::shared_ptr<const config::Config> config;
  std::unique_ptr<Instance> instance;
  std::string head;
};

}  // namespace weir::offline::test
