#include "app/certificates.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

#include "tls/digest.hpp"

namespace weir::app {
namespace {

/// Appends a part with its length, so that no two lists of parts read alike.
void append_part(std::string& text, const std::string& part) {
  text += std::to_string(part.size()) + ':' + part;
}

/// A file that cannot be read is reported when it is loaded.
void add_file(std::string& text, const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  append_part(text, {std::istreambuf_iterator<char>(file), {}});
}

std::string digest_of(const options::Listen& listen) {
  std::string text = listen.tls.min_version == tls::Version::tls12 ? "1.2" : "1.3";
  text += listen.tls.http2 ? "+h2" : "";
  for (const auto* const list : {&listen.tls.groups, &listen.tls.ciphers}) {
    std::string names;
    for (const auto& name : *list)
      append_part(names, name);
    append_part(text, names);
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

Result<ListenerCertificates> load(const options::Listen& listen, const LoadedCertificates* before) {
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

bool is_secure(const options::Upstream& upstream) {
  return std::any_of(upstream.servers.begin(), upstream.servers.end(),
                     [](const auto& server) { return server.secure; });
}

tls::AlpnOffer offer_of(options::Protocol protocol) {
  switch (protocol) {
    case options::Protocol::http2:
      return tls::AlpnOffer::http2;
    case options::Protocol::automatic:
      return tls::AlpnOffer::http2_or_http11;
    case options::Protocol::http1:
      break;
  }
  return tls::AlpnOffer::http11;
}

Result<UpstreamCertificates> load(const options::Upstream& upstream,
                                  const LoadedCertificates* before) {
  if (!is_secure(upstream)) return UpstreamCertificates{};
  UpstreamCertificates certificates{.context = {}, .digest = digest_of(upstream.tls)};
  auto loaded = tls::ClientContext::load(upstream.tls, offer_of(upstream.protocol));
  if (!loaded) return loaded.error();
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

/// For requests of Weir itself.
Result<std::shared_ptr<const tls::ClientContext>> load(const http::Url& url,
                                                       const tls::ClientFiles& files) {
  if (!url.is_secure) return std::shared_ptr<const tls::ClientContext>();
  return tls::ClientContext::load(files);
}

}  // namespace

std::vector<std::string> Certificates::warnings() const {
  std::vector<std::string> all;
  const auto add = [&all](const auto& one) {
    if (one.context == nullptr) return;
    const auto& more = one.context->warnings();
    all.insert(all.end(), more.begin(), more.end());
  };
  std::for_each(listeners.begin(), listeners.end(), add);
  std::for_each(upstreams.begin(), upstreams.end(), add);
  for (const auto& context : keys)
    add(UpstreamCertificates{.context = context, .digest = {}});
  add(UpstreamCertificates{.context = otlp, .digest = {}});
  add(UpstreamCertificates{.context = webhook, .digest = {}});
  return all;
}

std::vector<std::string> renewed_files(const LoadedCertificates& before,
                                       const LoadedCertificates& after) {
  std::vector<std::string> keys;
  const auto& listeners = after.config.listen;
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    const auto same =
        std::find(before.config.listen.begin(), before.config.listen.end(), listeners[i]);
    if (same == before.config.listen.end()) continue;
    const auto index = static_cast<std::size_t>(same - before.config.listen.begin());
    if (before.certificates.listeners[index].digest != after.certificates.listeners[i].digest)
      keys.push_back(after.config.listener_path(i) + ".tls");
  }
  std::map<std::string_view, std::size_t> indexes;
  for (std::size_t i = 0; i < before.config.upstreams.size(); ++i)
    indexes.emplace(before.config.upstreams[i].name, i);
  for (std::size_t i = 0; i < after.config.upstreams.size(); ++i) {
    const auto& upstream = after.config.upstreams[i];
    const auto same = indexes.find(upstream.name);
    const bool is_same = same != indexes.end() && before.config.upstreams[same->second] == upstream;
    if (is_same && after.certificates.upstreams[i].has_changed)
      keys.push_back("upstreams." + upstream.name + ".tls");
  }
  return keys;
}

Certificates load_certificates(const config::Config& config, const LoadedCertificates* before,
                               std::vector<config::Diagnostic>& problems) {
  Certificates certificates;
  const auto take = [&](auto& to, auto loaded, const std::string& section) {
    if (!loaded)
      problems.push_back(
          config.presentation.positions.problem(section + ".tls", loaded.error().message));
    to.push_back(loaded ? std::move(*loaded) : typename decltype(loaded)::value_type{});
  };
  for (std::size_t i = 0; i < config.listen.size(); ++i) {
    take(certificates.listeners, load(config.listen[i], before), config.listener_path(i));
  }
  for (const auto& upstream : config.upstreams)
    take(certificates.upstreams, load(upstream, before), "upstreams." + upstream.name);
  for (const auto& keys : config.key_urls)
    take(certificates.keys, load(keys.url, keys.tls), "jwt_providers." + keys.provider + ".jwks");
  const auto take_own = [&](const http::Url& url, const tls::ClientFiles& files,
                            const std::string& path) {
    std::vector<std::shared_ptr<const tls::ClientContext>> one;
    take(one, load(url, files), path);
    return std::move(one.front());
  };
  if (config.webhook)
    certificates.webhook = take_own(config.webhook->url, config.webhook->tls, "events.webhook");
  if (config.otlp)
    certificates.otlp = take_own(config.otlp->url, config.otlp->tls, "telemetry.otlp");
  return certificates;
}

}  // namespace weir::app
