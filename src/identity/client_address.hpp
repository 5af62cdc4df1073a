// Finds the client's address behind trusted proxies: RFC 7239 and X-Forwarded-For, read from the
// right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ip_address.hpp"
#include "http/request_view.hpp"

namespace weir::identity {

struct ClientAddressOptions {
  enum class Header : std::uint8_t { x_forwarded_for, forwarded, single };
  std::vector<IpPrefix> trusted_proxies;  ///< empty: the peer is the client
  Header header = Header::x_forwarded_for;
  std::string header_name =
      "x-forwarded-for";  ///< for Header::single any field that holds one address
  int ipv4_prefix = 32;
  int ipv6_prefix = 64;
  bool removes_untrusted_fields = true;
  /// In addition to the built-in list, in lower case; "x-ssl-client-*" is a prefix.
  std::vector<std::string> untrusted_fields{};
  friend bool operator==(const ClientAddressOptions&, const ClientAddressOptions&) = default;
};

/// Returns the address of the client, whole (not cut to its prefix). Walks from the right over
/// trusted proxies only, and not past an entry that is not an address: then the last valid address
/// is the client.
IpAddress client_address(const ClientAddressOptions& options, const IpAddress& peer,
                         const http::RequestView& request);

bool is_trusted(const ClientAddressOptions& options, const IpAddress& peer);

}  // namespace weir::identity
