// Splits http:// and https:// URLs. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace weir::config {

struct HttpUrl {
  bool is_secure = false;
  std::string_view host{};  ///< a name or an address, without brackets
  std::uint16_t port = 80;
  std::string_view rest{};  ///< after host and port: empty, or from `/`, `?` or `#` on
};

/// The forms that messages mention.
struct UrlForms {
  std::string_view example;   ///< http://127.0.0.1:3000
  std::string_view schemes;   ///< http://HOST:PORT or https://HOST:PORT
  std::string_view expected;  ///< http://HOST:PORT, such as http://127.0.0.1:3000
};

/// Problems never contain a part of the URL, which may have a password: a user or a password is a
/// problem too.
Result<HttpUrl> split_http_url(std::string_view url, const UrlForms& forms);

}  // namespace weir::config
