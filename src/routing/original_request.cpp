#include "routing/original_request.hpp"

#include <initializer_list>
#include <string_view>

#include "http/authority.hpp"
#include "http/characters.hpp"

namespace weir::routing {
namespace {

using http::Refusal;
using http::RequestView;

/// The one value that the fields of these names have.
Result<std::optional<std::string_view>, Refusal> only_value(
    const RequestView& asked, std::initializer_list<std::string_view> names) {
  std::optional<std::string_view> value;
  for (const http::FieldView& field : asked.fields) {
    for (const std::string_view name : names) {
      if (!http::iequals(field.name, name)) continue;
      if (value.value_or(field.value) != field.value)
        return Refusal{400, "two values for one part of the original request"};
      value = field.value;
    }
  }
  return value;
}

}  // namespace

std::optional<Refusal> read_original_request(const RequestView& asked, RequestView& original,
                                             std::string& storage, http::RawBytes raw) {
  original = asked;
  const auto target = only_value(asked, {"x-original-uri", "x-forwarded-uri"});
  const auto method = only_value(asked, {"x-original-method", "x-forwarded-method"});
  const auto host = only_value(asked, {"x-forwarded-host"});
  if (!target) return target.error();
  if (!method) return method.error();
  if (!host) return host.error();
  if (!target->has_value()) return std::nullopt;

  original.method = method->value_or(asked.method);
  if (!http::is_token(original.method)) return Refusal{400, "the original method is no token"};
  if (const auto refusal = http::set_target(original, **target, storage, raw)) return refusal;
  if (host->has_value()) {
    const auto authority = http::parse_authority(**host);
    if (!authority) return Refusal{400, "the original host is no host"};
    original.host = authority->host;
  }
  return std::nullopt;
}

}  // namespace weir::routing
