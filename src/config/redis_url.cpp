// The URL of the Redis that instances share.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "config/endpoint.hpp"
#include "config/sections.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::config {

namespace {

constexpr std::int64_t largest_database = 999'999;
/// sockaddr_un has room for 108 bytes, the last of which is 0.
constexpr std::size_t longest_redis_socket = 107;

constexpr std::string_view encoding_hint =
    "; in a user or password write @ : / ? # % as %40 %3A %2F %3F %23 %25";

/// Returns nothing if an escape is malformed, or is that of NUL.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int escaped = http::escape_at(text.substr(i));
    if (escaped <= 0) return std::nullopt;
    out += static_cast<char>(escaped);
    i += 2;
  }
  return out;
}

using Finding = std::optional<Problem>;

Finding read_user_and_password(std::string_view text, options::Redis& to) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) {
    return Problem{
        "the user has no password; write USER:PASSWORD@, or :PASSWORD@ for the default user"};
  }
  auto user = percent_decoded(text.substr(0, colon));
  auto password = percent_decoded(text.substr(colon + 1));
  if (!user || !password)
    return Problem{"a % without two hexadecimal digits after it" + std::string(encoding_hint)};
  to.user = *std::move(user);
  to.password = Secret(*std::move(password));
  return std::nullopt;
}

Finding read_database(std::string_view text, options::Redis& to) {
  const Result<std::int64_t> number = parse_integer(text);
  if (!number || *number < 0 || *number > largest_database) {
    return Problem{"expected the number of a database, 0 to " + std::to_string(largest_database) +
                   ", at the end of the URL"};
  }
  to.database = static_cast<int>(*number);
  return std::nullopt;
}

Finding read_redis_server(std::string_view authority, std::string_view path, options::Redis& to) {
  const std::string hint = "expected redis://HOST:PORT/DATABASE, such as redis://127.0.0.1:6379/0" +
                           std::string(encoding_hint);
  if (path.find_first_of("?#") != std::string_view::npos)
    return Problem{"the URL ends after the number of the database" + std::string(encoding_hint)};
  const std::optional<HostAndPort> parts = split_host_and_port(authority);
  if (!parts) return Problem{hint};
  to.host = parts->host;
  to.port = parts->port.value_or(to.port);
  if (to.port == 0) return Problem{"port 0 cannot be connected to"};
  return path.empty() || path == "/" ? std::nullopt : read_database(path.substr(1), to);
}

Finding read_unix_path(std::string_view authority, std::string_view path, options::Redis& to) {
  const std::size_t question = path.find('?');
  auto file = percent_decoded(path.substr(0, question));
  if (!authority.empty() || !file || file->size() < 2)
    return Problem{
        "expected unix:///PATH, with the whole path, such as unix:///run/redis/redis.sock"};
  if (file->size() > longest_redis_socket) {
    return Problem{"the path of a socket has at most " + std::to_string(longest_redis_socket) +
                   " bytes"};
  }
  to.unix_path = *std::move(file);
  if (question == std::string_view::npos) return std::nullopt;
  const std::string_view query = path.substr(question + 1);
  if (!query.starts_with("db=")) return Problem{"after the path only ?db=DATABASE is allowed"};
  return read_database(query.substr(3), to);
}

std::string_view name_of_invisible(char c) {
  if (c == ' ') return "a space";
  if (c == '\r' || c == '\n') return "a line end";
  if (c == '\t' || http::is_control(c)) return "a control character";
  return "a character that is not ASCII";
}

/// Finds an invisible character, such as one copied along with a password.
Finding find_invisible(std::string_view url) {
  const auto at = std::ranges::find_if(url, [](char c) { return c < '!' || c > '~'; });
  if (at == url.end()) return std::nullopt;
  return Problem{"the URL contains " + std::string(name_of_invisible(*at)) + " after " +
                 std::to_string(at - url.begin()) +
                 " bytes, which may be invisible; remove it, or write its bytes as %XX"};
}

}  // namespace

Result<options::Redis> parse_redis_url(std::string_view url) {
  if (Finding found = find_invisible(url)) return *found;
  const Url parts = split_url(url).value_or(Url{});
  options::Redis store;
  store.secure = http::iequals(parts.scheme, "rediss");
  const bool is_unix = http::iequals(parts.scheme, "unix");
  if (!store.secure && !is_unix && !http::iequals(parts.scheme, "redis")) {
    return Problem{
        "expected a URL, such as redis://127.0.0.1:6379, rediss://redis.example:6380 or "
        "unix:///run/redis/redis.sock"};
  }
  if (parts.user_info) {
    if (Finding found = read_user_and_password(*parts.user_info, store)) return *found;
  }
  const Finding found = is_unix ? read_unix_path(parts.authority, parts.rest, store)
                                : read_redis_server(parts.authority, parts.rest, store);
  if (found) return *found;
  return {boost::system::in_place_value, std::move(store)};
}

}  // namespace weir::config
