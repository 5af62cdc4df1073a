// Splits URLs, for every key and option that has one. Pure.
//
// A URL may have a password, so problems never contain a part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "http/url.hpp"
#include "options/upstream.hpp"

namespace weir::config {

/// `SCHEME://[USER_INFO@]AUTHORITY[REST]`, in parts as they are written.
struct Url {
  std::string_view scheme{};
  std::optional<std::string_view> user_info{};
  std::string_view authority{};  ///< host and port; config/endpoint.hpp splits it
  std::string_view rest{};       ///< empty, or from `/`, `?` or `#` on
};

/// Returns nothing if the text has no `://`. The parts are not checked.
std::optional<Url> split_url(std::string_view text);

struct HttpUrl {
  bool is_secure = false;
  std::string_view host{};  ///< a name or an address, without brackets
  std::uint16_t port = 80;
  std::string_view rest{};  ///< as in `Url`
};

/// The forms that messages mention.
struct UrlForms {
  std::string_view example;   ///< http://127.0.0.1:3000
  std::string_view schemes;   ///< http://HOST:PORT or https://HOST:PORT
  std::string_view expected;  ///< http://HOST:PORT, such as http://127.0.0.1:3000
};

/// Splits `http://HOST[:PORT][REST]` or `https://...`. A user or a password is a problem.
Result<HttpUrl> split_http_url(std::string_view text, const UrlForms& forms);

/// Parses the URL of a request that Weir itself sends: with a path and a query, without a fragment.
/// A missing path is `/`.
Result<http::Url> parse_request_url(std::string_view text, const UrlForms& forms);

/// True for a host whose traffic does not leave this machine.
bool is_loopback(const std::string& host);

/// Parses the URL of a server of an upstream: `http://HOST[:PORT]` or `https://HOST[:PORT]`,
/// followed by an optional `/` only.
Result<options::Server> parse_server_url(std::string_view text);

}  // namespace weir::config
