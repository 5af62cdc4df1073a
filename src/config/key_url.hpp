// `jwt_providers.*.jwks` with `url`: where the keys of a provider are fetched, and how often.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "http/url.hpp"
#include "jwt/published_keys.hpp"
#include "jwt/refresh_schedule.hpp"
#include "tls/material.hpp"

namespace weir::config {

struct KeyUrl {
  std::string provider{};  ///< its name
  http::Url url{};
  std::string shown{};  ///< the URL for the log: without its query, with variables as written
  jwt::RefreshTimes times{};
  Duration timeout = std::chrono::seconds(5);  ///< of a whole fetch
  tls::ClientFiles tls{};                      ///< for https://
  std::shared_ptr<jwt::PublishedKeys> keys{};  ///< of the provider

  /// The same settings, whatever the keys.
  friend bool operator==(const KeyUrl& a, const KeyUrl& b) {
    return a.provider == b.provider && a.url == b.url && a.times == b.times &&
           a.timeout == b.timeout && a.tls == b.tls;
  }
};

/// Parses `http://HOST[:PORT][/PATH][?QUERY]` or `https://...`. Problems never contain a part of
/// the URL.
Result<http::Url> parse_key_url(std::string_view url);

}  // namespace weir::config
