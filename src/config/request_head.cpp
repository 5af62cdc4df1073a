#include "config/request_head.hpp"

#include <algorithm>

#include "http/authority.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::config {

Result<Url> parse_request_url(std::string_view text) {
  const auto is_invalid = [](char c) { return http::is_white_space(c) || http::is_control(c); };
  if (std::any_of(text.begin(), text.end(), is_invalid))
    return Problem{"it has a space or a control character; write it as %20, %09 and so on"};
  auto url = split_url(text);
  if (!url || (!http::iequals(url->scheme, "http") && !http::iequals(url->scheme, "https")))
    return Problem{"expected http://HOST/PATH or https://HOST/PATH"};
  if (url->user_info)
    return Problem{"it has a user name; send credentials in the field Authorization"};
  if (!http::parse_authority(url->authority))
    return Problem{"its host is not a name or an address with an optional port"};
  url->rest = url->rest.substr(0, url->rest.find('#'));
  return *url;
}

std::string fault_of_field(std::string_view name, std::string_view value) {
  if (!http::is_token(name)) return "expected a field name, such as x-api-key";
  const auto is_invalid = [](char c) { return c != '\t' && http::is_control(c); };
  if (std::any_of(value.begin(), value.end(), is_invalid))
    return "the value of " + std::string(name) + " has a control character";
  return {};
}

std::string request_head(std::string_view method, const Url& url, RequestFields fields) {
  std::string head(method);
  head += ' ';
  if (!url.rest.starts_with('/')) head += '/';
  head.append(url.rest).append(" HTTP/1.1\r\n");
  const auto is_host = [](const auto& field) { return http::iequals(field.first, "host"); };
  if (std::none_of(fields.begin(), fields.end(), is_host))
    head.append("Host: ").append(url.authority).append("\r\n");
  for (const auto& [name, value] : fields)
    head.append(name).append(": ").append(value).append("\r\n");
  return head += "\r\n";
}

}  // namespace weir::config
