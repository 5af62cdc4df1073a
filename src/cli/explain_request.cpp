#include "cli/explain_request.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/url.hpp"
#include "http/authority.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::cli {
namespace {

/// Returns the parts without user info and fragment.
Result<config::Url> parse_url(std::string_view text) {
  const auto is_invalid = [](char c) { return http::is_white_space(c) || http::is_control(c); };
  if (std::any_of(text.begin(), text.end(), is_invalid))
    return Problem{"URL: it has a space or a control character; write it as %20, %09 and so on"};
  auto url = config::split_url(text);
  if (!url || (!http::iequals(url->scheme, "http") && !http::iequals(url->scheme, "https")))
    return Problem{"URL: expected http://HOST/PATH or https://HOST/PATH"};
  if (url->user_info)
    return Problem{"URL: it has a user name; send credentials with -H 'Authorization: ...'"};
  if (!http::parse_authority(url->authority))
    return Problem{"URL: its host is not a name or an address with an optional port"};
  url->rest = url->rest.substr(0, url->rest.find('#'));
  return *url;
}

Result<std::string> field_line(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, std::min(colon, text.size()));
  if (colon == std::string_view::npos || !http::is_token(name))
    return Problem{"-H: expected 'NAME: VALUE', such as 'X-Api-Key: abc'"};
  const std::string_view value = http::trimmed(text.substr(colon + 1));
  const auto is_invalid = [](char c) { return c != '\t' && http::is_control(c); };
  if (std::any_of(value.begin(), value.end(), is_invalid))
    return Problem{"-H: the value of " + std::string(name) + " has a control character"};
  std::string line(name);
  line.append(": ").append(value).append("\r\n");
  return {boost::system::in_place_value, std::move(line)};
}

bool is_host(std::string_view field) {
  return http::iequals(field.substr(0, std::min(field.find(':'), field.size())), "host");
}

}  // namespace

Result<std::string> request_head(const RequestArguments& arguments) {
  const auto url = parse_url(arguments.url);
  if (!url) return url.error();
  if (!http::is_token(arguments.method)) return Problem{"--method: expected a method, such as GET"};
  std::string head = arguments.method + ' ';
  if (!url->rest.starts_with('/')) head += '/';
  head.append(url->rest).append(" HTTP/1.1\r\n");
  const auto& fields = arguments.fields;
  if (std::none_of(fields.begin(), fields.end(), is_host))
    head.append("Host: ").append(url->authority).append("\r\n");
  for (const std::string& field : fields) {
    const auto line = field_line(field);
    if (!line) return line.error();
    head += *line;
  }
  head += "\r\n";
  return {boost::system::in_place_value, std::move(head)};
}

}  // namespace weir::cli
