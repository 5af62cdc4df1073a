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
  /// As Config::key_urls; nullptr for http://.
  std::vector<std::shared_ptr<const tls::ClientContext>> keys;
  /// Of Config::webhook and Config::otlp; nullptr: none, or http://.
  std::shared_ptr<const tls::ClientContext> webhook{};
  std::shared_ptr<const tls::ClientContext> otlp{};

  /// Certificates that no client accepts at present, and keys that make handshakes slow.
  std::vector<std::string> warnings() const;
};

/// A configuration with its certificates.
struct LoadedCertificates {
  const config::Config& config;
  const Certificates& certificates;
};

/// The keys of TLS settings that are the same in both, and whose files have changed since:
/// `listen[0].tls`, `upstreams.api.tls`. A listener is found by its address.
std::vector<std::string> renewed_files(const LoadedCertificates& before,
                                       const LoadedCertificates& after);

/// A listener whose files are those of one `before` keeps its context, so that clients can resume
/// their sessions. `before`: nullptr at the start. Adds to `problems` what cannot be loaded.
Certificates load_certificates(const config::Config& config, const LoadedCertificates* before,
                               std::vector<config::Diagnostic>& problems);

}  // namespace weir::app
