// The TLS contexts of a configuration, made from its files: at the start, and again at SIGHUP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "tls/context.hpp"

namespace weir::app {

/// Shared by all workers; empty where there is no TLS.
struct Certificates {
  std::vector<std::shared_ptr<const tls::ServerContext>> listeners;  ///< as Config::listen
  std::vector<std::shared_ptr<const tls::ClientContext>> upstreams;  ///< as Config::upstreams

  bool any() const;
  /// About certificates that nobody accepts now, or whose key makes handshakes slow.
  std::vector<std::string> warnings() const;
};

Result<Certificates> load_certificates(const config::Config& config);

}  // namespace weir::app
