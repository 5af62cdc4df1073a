// The TLS contexts of a configuration, made from its files: at the start, and again at each reload.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "tls/context.hpp"

namespace weir::app {

/// Without TLS there is no context. The digest is that of the files, and of what else the context
/// is made from.
struct ListenerCertificates {
  std::shared_ptr<const tls::ServerContext> context;
  std::string digest;
};
struct UpstreamCertificates {
  std::shared_ptr<const tls::ClientContext> context;
  std::string digest;
  bool has_changed = false;  ///< since the load before, in the upstream of that name
};

/// Shared by all workers.
struct Certificates {
  std::vector<ListenerCertificates> listeners;  ///< as Config::listen
  std::vector<UpstreamCertificates> upstreams;  ///< as Config::upstreams

  bool any() const;
  /// About certificates that nobody accepts now, or whose key makes handshakes slow.
  std::vector<std::string> warnings() const;
};

/// What a configuration has loaded.
struct LoadedCertificates {
  const config::Config& config;
  const Certificates& certificates;
};

/// A listener whose files are those of one `before` keeps its context, and so clients resume the
/// sessions that they have. `before`: nullptr at the start.
Result<Certificates> load_certificates(const config::Config& config,
                                       const LoadedCertificates* before = nullptr);

}  // namespace weir::app
