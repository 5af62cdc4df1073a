// The reasons for which a store does not decide. Values; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::store {

/// A command is sent again only after script_missing and redirected: they prove that the script has
/// not run.
enum class Error : std::uint8_t {
  none,
  not_connected,    ///< nothing was sent
  timeout,          ///< no answer within the store's timeout; the request may still be charged
  connection_lost,  ///< sent, then the connection ended; the request may have been charged
  overloaded,       ///< nothing was sent: too many questions are in flight
  loading,          ///< LOADING, MASTERDOWN, BUSY, CLUSTERDOWN: the server cannot serve at present
  read_only,        ///< READONLY: connected to a replica
  out_of_memory,    ///< OOM
  refused,          ///< NOAUTH, WRONGPASS, NOPERM, also within a script: permissions are missing
  script_missing,   ///< NOSCRIPT
  redirected,       ///< MOVED, ASK, TRYAGAIN: another node of the cluster has the keys
  other,            ///< any other error, or a reply that no script returns
};
inline constexpr std::size_t error_count = static_cast<std::size_t>(Error::other) + 1;

/// The name in metrics and logs: `timeout`, `connection_lost`.
std::string_view to_string(Error error);

}  // namespace weir::store
