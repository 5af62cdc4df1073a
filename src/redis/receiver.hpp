// Who waits for an answer of the shared store, and why there may be none.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir::redis {

/// Why Redis did not decide. Only script_missing proves that nothing ran and is asked again.
enum class StoreError : std::uint8_t {
  none,
  not_connected,    ///< nothing was sent
  timeout,          ///< no answer within the decision's time; it may still be counted
  connection_lost,  ///< sent, then the connection ended; it may have been counted
  loading,          ///< LOADING, MASTERDOWN, BUSY, CLUSTERDOWN: the server can not serve at present
  read_only,        ///< READONLY: connected to a replica
  out_of_memory,    ///< OOM
  refused,          ///< NOAUTH, WRONGPASS, NOPERM, also within a script: rights are missing
  script_missing,   ///< NOSCRIPT
  other,            ///< any other error, or an answer that no script of ours gives
};
inline constexpr std::size_t store_error_count = static_cast<std::size_t>(StoreError::other) + 1;

/// As metrics and logs name it: `timeout`, `connection_lost`.
std::string_view to_string(StoreError error);
/// For the log, what a person can do about an error that Redis answers with; empty for the others.
std::string_view remedy(StoreError error);

/// Called exactly once for each question, from the loop, never from within the call that asked.
class Receiver {
 public:
  virtual void on_answer(StoreError error) = 0;

 protected:
  ~Receiver() = default;
};

}  // namespace weir::redis
