#include "app/certificates.hpp"

#include <algorithm>

namespace weir::app {
namespace {

void warn_of_dates(const std::string& file, std::vector<std::string>& warnings) {
  if (file.empty()) return;
  const auto found = tls::read_certificates(file);
  const std::string trouble = found ? tls::trouble_with_dates(found->front()) : std::string();
  if (!trouble.empty()) warnings.push_back(trouble + " (\"" + file + "\")");
}

}  // namespace

bool Certificates::any() const {
  const auto is_there = [](const auto& context) { return context != nullptr; };
  return std::any_of(listeners.begin(), listeners.end(), is_there) ||
         std::any_of(upstreams.begin(), upstreams.end(), is_there);
}

Result<Certificates> load_certificates(const config::Config& config) {
  Certificates certificates;
  for (const auto& listen : config.listen) {
    certificates.listeners.emplace_back();
    if (listen.certificates.empty()) continue;
    auto loaded = tls::ServerContext::load(listen.certificates);
    if (!loaded) return loaded.error();
    certificates.listeners.back() = *loaded;
    for (const auto& files : listen.certificates)
      warn_of_dates(files.certificate, certificates.warnings);
  }
  for (const auto& upstream : config.upstreams) {
    certificates.upstreams.emplace_back();
    const bool is_secure = std::any_of(upstream.servers.begin(), upstream.servers.end(),
                                       [](const auto& server) { return server.secure; });
    if (!is_secure) continue;
    auto loaded = tls::ClientContext::load(upstream.tls);
    if (!loaded) return Problem{"upstream " + upstream.name + ": " + loaded.error().message};
    certificates.upstreams.back() = *loaded;
    warn_of_dates(upstream.tls.own.certificate, certificates.warnings);
  }
  return certificates;
}

}  // namespace weir::app
