// `weir proxy` is `weir serve` with a configuration written from flags, so that everything is
// checked once and in one place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "config/diagnostic.hpp"

namespace weir::cli {

/// The flags as given; empty: not given.
struct ProxyFlags {
  std::string to;
  std::string limit;
  std::optional<std::int64_t> burst;
  std::string key = "client_address";
  std::string listen = "127.0.0.1:8080";
  std::string admin;  ///< not given: no admin server, so that two of these can run side by side
  std::string redis;  ///< WEIR_IDENTITY_SECRET of the environment keys what is shared there
};

/// The equivalent YAML; values are quoted and not yet checked. The problem is one of --key.
Result<std::string> proxy_configuration(const ProxyFlags& flags);

/// The flag, or the variable, that a problem found in that YAML is about.
std::string_view flag_of(const config::Diagnostic& diagnostic);

}  // namespace weir::cli
