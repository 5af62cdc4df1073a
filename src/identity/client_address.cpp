#include "identity/client_address.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "identity/node.hpp"

namespace weir::identity {
namespace {

using http::FieldView;
using Header = ClientAddressSettings::Header;

/// Walks from the peer towards the client, one hop at a time.
class Walk {
 public:
  Walk(const ClientAddressSettings& settings, const IpAddress& peer)
      : settings_(settings), reached_(peer) {}

  /// Moves to `hop`, which the current hop has reported; returns false where the walk ends.
  bool step(const std::optional<IpAddress>& hop) {
    if (!hop) return false;
    reached_ = *hop;
    return is_trusted(settings_, reached_);
  }
  const IpAddress& reached() const { return reached_; }

 private:
  const ClientAddressSettings& settings_;
  IpAddress reached_;
};

/// Several lines are one list (RFC 9110 section 5.3), so the last line is walked first. Empty
/// elements count as none.
IpAddress walk_list(Walk walk, const http::RequestView& request, std::string_view name,
                    auto take_last, auto parse) {
  for (std::size_t left = request.fields.size(); left > 0; --left) {
    const auto& field = request.fields[left - 1];
    if (!http::iequals(field.name, name)) continue;
    for (std::string_view list = field.value; !list.empty();) {
      const std::string_view element = take_last(list);
      if (!element.empty() && !walk.step(parse(element))) return walk.reached();
    }
  }
  return walk.reached();
}

/// A proxy that sets the field replaces the client's value; two lines mean that it did not.
IpAddress single_address(const http::RequestView& request, std::string_view name,
                         const IpAddress& peer) {
  const FieldView* only = nullptr;
  for (const FieldView& field : request.fields) {
    if (!http::iequals(field.name, name)) continue;
    if (only != nullptr) return peer;
    only = &field;
  }
  return only == nullptr ? peer : parse_node(only->value).value_or(peer);
}

}  // namespace

IpAddress client_address(const ClientAddressSettings& settings, const IpAddress& peer,
                         const http::RequestView& request) {
  if (!is_trusted(settings, peer)) return peer;
  const Walk walk{settings, peer};
  switch (settings.header) {
    case Header::single:
      return single_address(request, settings.header_name, peer);
    case Header::forwarded:
      return walk_list(walk, request, "forwarded", take_last_forwarded_element, forwarded_for);
    case Header::x_forwarded_for:
      break;
  }
  return walk_list(walk, request, "x-forwarded-for", take_last_element, parse_node);
}

bool is_trusted(const ClientAddressSettings& settings, const IpAddress& peer) {
  return std::any_of(settings.trusted_proxies.begin(), settings.trusted_proxies.end(),
                     [&](const IpPrefix& prefix) { return prefix.contains(peer); });
}

}  // namespace weir::identity
