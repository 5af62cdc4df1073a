// The configuration of `weir proxy`, written from its flags. The loader checks it as it checks the
// file of `weir serve`.
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
  std::string admin;  ///< not given: no admin server, so that two instances can run side by side
  std::string redis;  ///< identities shared there are hashed with the variable WEIR_IDENTITY_SECRET
};

/// Returns the equivalent YAML; its values are quoted and not yet checked. Fails for a wrong --key.
Result<std::string> proxy_configuration(const ProxyFlags& flags);

/// Returns the flag or the variable that a problem in that YAML comes from.
std::string_view flag_of(const config::Diagnostic& diagnostic);

}  // namespace weir::cli
