#include "app/certificates.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tls/digest.hpp"

namespace weir::app {
namespace {

/// Appends a part with its length, so that no two lists of parts read alike.
void add(std::string& text, const std::string& part) {
  text += std::to_string(part.size()) + ':' + part;
}

/// A file that cannot be read is reported when it is loaded.
void add_file(std::string& text, const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  add(text, {std::istreambuf_iterator<char>(file), {}});
}

std::string digest_of(const proxy::Listen& listen) {
  std::string text = listen.tls.min_version == tls::Version::tls12 ? "1.2" : "1.3";
  for (const auto* const list : {&listen.tls.groups, &listen.tls.ciphers}) {
    std::string names;
    for (const auto& name : *list)
      add(names, name);
    add(text, names);
  }
  for (const auto& files : listen.certificates) {
    add_file(text, files.certificate);
    add_file(text, files.private_key);
  }
  return tls::sha256_hex(text);
}

std::string digest_of(const tls::ClientFiles& files) {
  std::string text;
  for (const auto* const name : {&files.ca, &files.own.certificate, &files.own.private_key}) {
    if (!name->empty()) add_file(text, *name);
  }
  return tls::sha256_hex(text);
}

Result<ListenerCertificates> load(const proxy::Listen& listen, const LoadedCertificates* before) {
  if (listen.certificates.empty()) return ListenerCertificates{};
  std::string digest = digest_of(listen);
  if (before != nullptr) {
    const auto& all = before->certificates.listeners;
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.digest == digest; });
    if (same != all.end()) return *same;
  }
  auto loaded = tls::ServerContext::load(listen.certificates, listen.tls);
  if (!loaded) return loaded.error();
  return ListenerCertificates{.context = *loaded, .digest = std::move(digest)};
}

bool is_secure(const upstream::Upstream& upstream) {
  return std::any_of(upstream.servers.begin(), upstream.servers.end(),
                     [](const auto& server) { return server.secure; });
}

Result<UpstreamCertificates> load(const upstream::Upstream& upstream,
                                  const LoadedCertificates* before) {
  if (!is_secure(upstream)) return UpstreamCertificates{};
  UpstreamCertificates certificates{.context = {}, .digest = digest_of(upstream.tls)};
  auto loaded = tls::ClientContext::load(upstream.tls);
  if (!loaded) return Problem{"upstream " + upstream.name + ": " + loaded.error().message};
  certificates.context = *loaded;
  if (before == nullptr) return certificates;
  const auto& upstreams = before->config.upstreams;
  const auto same = std::find_if(upstreams.begin(), upstreams.end(),
                                 [&](const auto& one) { return one.name == upstream.name; });
  if (same == upstreams.end()) return certificates;
  const auto index = static_cast<std::size_t>(same - upstreams.begin());
  certificates.has_changed = before->certificates.upstreams[index].digest != certificates.digest;
  return certificates;
}

}  // namespace

bool Certificates::any() const {
  const auto is_there = [](const auto& one) { return one.context != nullptr; };
  return std::any_of(listeners.begin(), listeners.end(), is_there) ||
         std::any_of(upstreams.begin(), upstreams.end(), is_there);
}

std::vector<std::string> Certificates::warnings() const {
  std::vector<std::string> all;
  const auto add = [&all](const auto& one) {
    if (one.context == nullptr) return;
    const auto& more = one.context->warnings();
    all.insert(all.end(), more.begin(), more.end());
  };
  std::for_each(listeners.begin(), listeners.end(), add);
  std::for_each(upstreams.begin(), upstreams.end(), add);
  return all;
}

Result<Certificates> load_certificates(const config::Config& config,
                                       const LoadedCertificates* before) {
  Certificates certificates;
  for (const auto& listen : config.listen) {
    auto loaded = load(listen, before);
    if (!loaded) return loaded.error();
    certificates.listeners.push_back(std::move(*loaded));
  }
  for (const auto& upstream : config.upstreams) {
    auto loaded = load(upstream, before);
    if (!loaded) return loaded.error();
    certificates.upstreams.push_back(std::move(*loaded));
  }
  return certificates;
}

}  // namespace weir::app
