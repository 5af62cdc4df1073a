#include "identity/client_address.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "identity/node.hpp"

namespace weir::identity {
namespace {

using http::FieldView;
using Header = ClientAddressOptions::Header;

/// Walks from the peer towards the client, one hop at a time.
class Walk {
 public:
  Walk(const ClientAddressOptions& options, const IpAddress& peer)
      : options_(options), reached_(peer) {}

  /// Moves to `hop`, which the current hop has reported; returns false where the walk ends.
  bool step(const std::optional<IpAddress>& hop) {
    if (!hop) return false;
    reached_ = *hop;
    return is_trusted(options_, reached_);
  }
  const IpAddress& reached() const { return reached_; }

 private:
  const ClientAddressOptions& options_;
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

IpAddress client_address(const ClientAddressOptions& options, const IpAddress& peer,
                         const http::RequestView& request) {
  if (!is_trusted(options, peer)) return peer;
  const Walk walk{options, peer};
  switch (options.header) {
    case Header::single:
      return single_address(request, options.header_name, peer);
    case Header::forwarded:
      return walk_list(walk, request, "forwarded", take_last_forwarded_element, forwarded_for);
    case Header::x_forwarded_for:
      break;
  }
  return walk_list(walk, request, "x-forwarded-for", take_last_element, parse_node);
}

bool is_trusted(const ClientAddressOptions& options, const IpAddress& peer) {
  return std::any_of(options.trusted_proxies.begin(), options.trusted_proxies.end(),
                     [&](const IpPrefix& prefix) { return prefix.contains(peer); });
}

}  // namespace weir::identity
