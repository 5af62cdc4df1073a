// Which requests the admin server answers while no token is set.
//
// A page in a browser on this machine or network can reach the admin server: by DNS rebinding,
// where the page's own name resolves to the server's address, and by cross-site requests. The Host
// field shows the first, the Origin field the second (Fetch standard, section 3.2). Pure;
// thread-safe.
#pragma once

#include <optional>
#include <string_view>

#include "options/admin.hpp"

namespace weir::admin {

/// Fields that show where a browser's request comes from; absent: not in the request.
struct Provenance {
  std::optional<std::string_view> host{};
  std::optional<std::string_view> origin{};
};

/// Returns why the request is not answered, with the setting that changes it; empty if it is
/// answered.
///
/// Accepts as Host an IP address, localhost, the host of admin.address and the names in
/// admin.hosts, with any port. A request without Host is HTTP/1.0, which no browser sends; it is
/// accepted without an Origin. Any Host is accepted over a unix socket, which no browser can reach.
/// An Origin is accepted if it is that of the Host.
std::string_view why_foreign(const Provenance& from, const options::Admin& admin);

}  // namespace weir::admin
