#include "routing/original_request.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "http/authority.hpp"
#include "http/characters.hpp"

namespace weir::routing {
namespace {

using http::Refusal;
using http::RequestView;

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 2> target_names{"x-original-uri", "x-forwarded-uri"};
constexpr std::array<std::string_view, 2> method_names{"x-original-method", "x-forwarded-method"};
constexpr std::array<std::string_view, 1> host_names{"x-forwarded-host"};

bool is_one_of(Names names, const http::FieldView& field) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return http::iequals(field.name, name); });
}

/// Returns the value of the fields with these names, which must agree.
Result<std::optional<std::string_view>, Refusal> only_value(const RequestView& asked, Names names) {
  std::optional<std::string_view> value;
  for (const http::FieldView& field : asked.fields) {
    if (!is_one_of(names, field)) continue;
    if (value.value_or(field.value) != field.value)
      return Refusal{400, "two values for one part of the original request"};
    value = field.value;
  }
  return value;
}

}  // namespace

std::optional<Refusal> read_original_request(const RequestView& asked, RequestView& original,
                                             std::string& storage, http::RawBytes raw) {
  original = asked;
  const auto target = only_value(asked, target_names);
  const auto method = only_value(asked, method_names);
  const auto host = only_value(asked, host_names);
  if (!target) return target.error();
  if (!method) return method.error();
  if (!host) return host.error();
  if (!target->has_value()) return std::nullopt;

  original.method = method->value_or(asked.method);
  if (!http::is_token(original.method)) return Refusal{400, "the original method is not a token"};
  if (const auto refusal = http::set_target(original, **target, storage, raw)) return refusal;
  if (host->has_value()) {
    const auto authority = http::parse_authority(**host);
    if (!authority) return Refusal{400, "the original host is not a host name or an address"};
    original.host = authority->host;
  }
  return std::nullopt;
}

std::vector<std::string_view> original_request_fields(const RequestView& asked) {
  std::vector<std::string_view> found;
  bool has_target = false;
  for (const http::FieldView& field : asked.fields) {
    const bool is_target = is_one_of(target_names, field);
    if (!is_target && !is_one_of(method_names, field) && !is_one_of(host_names, field)) continue;
    found.push_back(field.name);
    has_target = has_target || is_target;
  }
  if (!has_target) found.clear();
  return found;
}

}  // namespace weir::routing
