// Upstreams as they are configured. Values; durations are microseconds, sizes bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "http/authority.hpp"
#include "tls/material.hpp"

namespace weir::options {

struct Server {
  std::string url;   ///< as configured
  std::string host;  ///< a name or an address, without brackets
  std::uint16_t port = 80;
  bool secure = false;  ///< https://
  int weight = 1;       ///< its share beside the others'
  /// `host:port` as Host has it: brackets around IPv6, no port where it is the scheme's.
  std::string authority() const { return http::authority_of(host, port, secure); }
  friend bool operator==(const Server&, const Server&) = default;
};

/// Servers of one upstream; the loader refuses more.
inline constexpr std::size_t server_limit = 256;

enum class Balance : std::uint8_t { round_robin, least_connections };

/// A GET that each worker sends each server from time to time.
struct HealthCheck {
  std::string path;
  Duration interval = std::chrono::seconds(5);
  Duration timeout = std::chrono::seconds(1);  ///< until its answer's head
  int rise = 2;                                ///< answers in a row until a server is used again
  int fall = 3;                                ///< failures in a row until it is not used
  friend bool operator==(const HealthCheck&, const HealthCheck&) = default;
};

/// Which idle connections a request may be sent on.
enum class Reuse : std::uint8_t {
  safe,    ///< only one that carried requests of the same client connection and of no other
  always,  ///< any
};

/// The version of HTTP that is spoken with the servers of an upstream.
enum class Protocol : std::uint8_t {
  http1,
  http2,      ///< by ALPN with https://, else by prior knowledge (RFC 9113 section 3)
  automatic,  ///< with https:// what the server chooses by ALPN, else HTTP/1.1
};

struct Upstream {
  std::string name;
  std::vector<Server> servers;
  Balance balance = Balance::round_robin;
  Duration connect_timeout = std::chrono::seconds(1);
  Duration response_timeout = std::chrono::seconds(30);
  Duration idle_timeout = std::chrono::seconds(60);
  Duration tunnel_timeout = std::chrono::hours(1);  ///< without a byte, after an upgrade
  tls::ClientFiles tls;                             ///< for https://
  int retries = 1;
  std::size_t retry_body = 16 * 1024;  ///< bytes of a request body kept for another try; 0: none
  Reuse reuse = Reuse::always;         ///< of connections of HTTP/1.1
  Protocol protocol = Protocol::http1;
  std::optional<HealthCheck> health_check;
  friend bool operator==(const Upstream&, const Upstream&) = default;
};

}  // namespace weir::options
