#include "app/certificates.hpp"

#include <algorithm>

namespace weir::app {

bool Certificates::any() const {
  const auto is_there = [](const auto& context) { return context != nullptr; };
  return std::any_of(listeners.begin(), listeners.end(), is_there) ||
         std::any_of(upstreams.begin(), upstreams.end(), is_there);
}

std::vector<std::string> Certificates::warnings() const {
  std::vector<std::string> all;
  const auto add = [&all](const auto& context) {
    if (context != nullptr)
      all.insert(all.end(), context->warnings().begin(), context->warnings().end());
  };
  std::for_each(listeners.begin(), listeners.end(), add);
  std::for_each(upstreams.begin(), upstreams.end(), add);
  return all;
}

Result<Certificates> load_certificates(const config::Config& config) {
  Certificates certificates;
  for (const auto& listen : config.listen) {
    certificates.listeners.emplace_back();
    if (listen.certificates.empty()) continue;
    auto loaded = tls::ServerContext::load(listen.certificates, listen.tls);
    if (!loaded) return loaded.error();
    certificates.listeners.back() = *loaded;
  }
  for (const auto& upstream : config.upstreams) {
    certificates.upstreams.emplace_back();
    const bool is_secure = std::any_of(upstream.servers.begin(), upstream.servers.end(),
                                       [](const auto& server) { return server.secure; });
    if (!is_secure) continue;
    auto loaded = tls::ClientContext::load(upstream.tls);
    if (!loaded) return Problem{"upstream " + upstream.name + ": " + loaded.error().message};
    certificates.upstreams.back() = *loaded;
  }
  return certificates;
}

}  // namespace weir::app
