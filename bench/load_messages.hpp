// The messages of bench_load. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "load_settings.hpp"

namespace weir::bench {

/// The requests of the load. Each key and each route is in one of them.
std::vector<std::string> requests_for(const Settings& settings);

/// The upstream's response of 100 bytes.
std::string response();

/// The upstream's response to an upgrade; the connection then echoes.
inline constexpr std::string_view upgraded =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";

/// A message through the tunnel.
inline constexpr std::string_view message = "0123456789abcdefghijklmnopqrstuv";
static_assert(message.size() == 32);

/// The size of a head at the front of `data`; 0 while it is not complete.
std::size_t head_size(std::string_view data);

/// The size of a response with Content-Length at the front of `data`; 0 while it is not complete.
std::size_t response_size(std::string_view data);

/// "200" of `HTTP/1.1 200 OK`.
std::string_view status_of(std::string_view response);

bool is_upgrade(std::string_view request_head);

}  // namespace weir::bench
