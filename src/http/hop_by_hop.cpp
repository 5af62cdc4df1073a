#include "http/hop_by_hop.hpp"

#include <algorithm>

#include "http/field_list.hpp"
#include "http/look_alike.hpp"
#include "http/trusted_fields.hpp"

namespace weir::http {
namespace {

bool starts_with_x_forwarded(std::string_view name) {
  constexpr std::string_view x_forwarded = "x-forwarded-";
  return iequals(name.substr(0, x_forwarded.size()), x_forwarded);
}

bool is_for_everyone(std::string_view name, std::span<const std::string> kept) {
  constexpr std::array<std::string_view, 5> names{"host", "content-length", "authorization",
                                                  "cookie", "forwarded"};
  const auto equals_name = [name](std::string_view other) { return iequals(name, other); };
  return starts_with_x_forwarded(name) || std::any_of(names.begin(), names.end(), equals_name) ||
         std::any_of(kept.begin(), kept.end(), equals_name);
}

void add_option(ConnectionOptions& options, std::string_view option,
                std::span<const std::string> kept) {
  if (iequals(option, "close")) {
    options.close = true;
  } else if (iequals(option, "keep-alive")) {
    options.keep_alive = true;
  } else if (iequals(option, "upgrade")) {
    options.upgrade = true;
  } else if (is_for_everyone(option, kept) || options.name(option)) {
    return;
  } else if (options.name_count == options.names.size()) {
    options.too_many = true;
  } else {
    options.names[options.name_count++] = option;
  }
}

}  // namespace

bool ConnectionOptions::name(std::string_view field_name) const {
  return std::any_of(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(name_count),
                     [field_name](std::string_view named) { return iequals(named, field_name); });
}

ConnectionOptions connection_options(std::span<const FieldView> fields,
                                     std::span<const std::string> kept) {
  ConnectionOptions options;
  read_connection_options(fields, kept, options);
  return options;
}

void read_connection_options(std::span<const FieldView> fields, std::span<const std::string> kept,
                             ConnectionOptions& options) {
  options.clear();
  for (const FieldView& field : fields) {
    if (field.id != FieldId::connection) continue;
    for_each_element(field.value,
                     [&](std::string_view option) { add_option(options, option, kept); });
  }
}

bool is_hop_by_hop(const FieldView& field, const ConnectionOptions& options) {
  switch (field.id) {
    case FieldId::connection:
    case FieldId::proxy_connection:
    case FieldId::keep_alive:
    case FieldId::te:
    case FieldId::transfer_encoding:
    case FieldId::upgrade:
      return true;
    default:
      return options.name_count != 0 && options.name(field.name);
  }
}

bool is_forbidden_in_trailers(const FieldView& field) {
  constexpr std::array<std::string_view, 39> names{"age",
                                                   "authorization",
                                                   "cache-control",
                                                   "connection",
                                                   "content-encoding",
                                                   "content-length",
                                                   "content-location",
                                                   "content-range",
                                                   "content-type",
                                                   "cookie",
                                                   "date",
                                                   "expect",
                                                   "expires",
                                                   "host",
                                                   "if-match",
                                                   "if-modified-since",
                                                   "if-none-match",
                                                   "if-range",
                                                   "if-unmodified-since",
                                                   "keep-alive",
                                                   "location",
                                                   "max-forwards",
                                                   "pragma",
                                                   "proxy-authenticate",
                                                   "proxy-authorization",
                                                   "proxy-connection",
                                                   "range",
                                                   "ratelimit",
                                                   "ratelimit-policy",
                                                   "retry-after",
                                                   "set-cookie",
                                                   "te",
                                                   "trailer",
                                                   "transfer-encoding",
                                                   "upgrade",
                                                   "vary",
                                                   "via",
                                                   "warning",
                                                   "www-authenticate"};
  const auto is_one = [&](std::string_view name) {
    if (!name.ends_with('*')) return are_one_variable(field.name, name);
    name.remove_suffix(1);
    return are_one_variable(field.name.substr(0, name.size()), name);
  };
  return std::any_of(names.begin(), names.end(), is_one) ||
         std::any_of(origin_fields.begin(), origin_fields.end(), is_one) ||
         std::any_of(removable_fields.begin(), removable_fields.end(), is_one) ||
         is_one(cgi_proxy_field);
}

bool wants_close(std::uint8_t version_minor, const ConnectionOptions& options) {
  return options.close || (version_minor == 0 && !options.keep_alive);
}

}  // namespace weir::http
