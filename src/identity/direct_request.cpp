#include "identity/direct_request.hpp"

#include <string_view>

#include "identity/node.hpp"

namespace weir::identity {
namespace {

constexpr std::string_view own_address_field = "x-forwarded-for";

/// Whether a proxy adds the field to requests that it forwards. Other fields that begin as
/// X-Forwarded-For do, such as X-Forwarded-Proto, are among them.
bool is_added_by_proxies(const ClientAddressOptions& options, std::string_view name) {
  constexpr std::string_view prefix = "x-forwarded-";
  return http::iequals(name, "forwarded") || http::iequals(name, "via") ||
         http::iequals(name, "x-real-ip") || http::iequals(name.substr(0, prefix.size()), prefix) ||
         (options.header == ClientAddressOptions::Header::single &&
          http::iequals(name, options.header_name));
}

}  // namespace

bool is_direct(const ClientAddressOptions& options, const IpAddress& peer,
               const http::RequestView& request) {
  if (!is_trusted(options, peer)) return false;
  const http::FieldView* own_address = nullptr;
  for (const http::FieldView& field : request.fields) {
    if (!is_added_by_proxies(options, field.name)) continue;
    if (own_address != nullptr || !http::iequals(field.name, own_address_field)) return false;
    own_address = &field;
  }
  if (own_address == nullptr) return true;
  const auto address = parse_node(own_address->value);
  return address && is_trusted(options, *address);
}

}  // namespace weir::identity
