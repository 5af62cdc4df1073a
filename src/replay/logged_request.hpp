// A request as a line of an access log states it. The texts are views into the line, or into
// the storage of its reader, until the next line is read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/ip_address.hpp"
#include "base/time.hpp"

namespace weir::replay {

/// A header field of the request.
struct LoggedField {
  std::string_view name;
  std::string_view value;
};

/// A limit of the request besides the one that decided.
struct OwnLimit {
  std::string_view policy{};
  std::string_view identity{};
  std::string_view identity_kind{};
  std::optional<std::int64_t> cost{};
  std::optional<std::int64_t> reserved{};
};

/// The members that only Weir's own log has. Empty texts and numbers are null in the line.
struct OwnRecord {
  std::string_view route{};
  std::string_view plan{};
  std::string_view upstream{};
  std::string_view decision{};
  std::string_view policy{};
  std::string_view identity{};  ///< the hash, as hexadecimal digits
  std::string_view identity_kind{};
  std::string_view aborted_by{};
  std::optional<std::int64_t> cost{};
  std::optional<std::int64_t> reserved{};
  std::optional<std::int64_t> remaining{};
  std::optional<std::int64_t> grpc_status{};
  bool has_response = false;  ///< of an upstream
  std::span<const OwnLimit> others{};
  /// The steps of a wait for a slot, in microseconds after `at`; empty: it did not wait.
  std::span<const std::int64_t> queue_us{};
};

struct LoggedRequest {
  Instant at{};
  std::optional<IpAddress> client{};  ///< empty: the log has a host name, or none
  std::string_view method{};          ///< empty: the request was not valid HTTP
  std::string_view target{};
  std::optional<int> status{};
  std::string_view user{};                ///< of Basic authentication; empty: none
  std::string_view referer{};             ///< empty: none, or not in the log
  std::string_view user_agent{};          ///< likewise
  std::string_view host{};                ///< likewise, of the Host field
  std::optional<Duration> duration{};     ///< until the end of the response; empty: not in the log
  std::optional<Instant> decided_at{};    ///< when Weir decided; empty: not in the log
  std::optional<OwnRecord> own{};         ///< empty: another server's line
  std::span<const LoggedField> fields{};  ///< others that the log has
};

/// The times of requests that can be decided: the memory store counts seconds from 1970 in 32 bits.
constexpr bool is_decidable(Instant at) {
  constexpr Instant end = instant_from_us(4'102'444'800'000'000);  // 2100-01-01T00:00:00Z
  return at >= Instant{} && at < end;
}

/// Why a line cannot be read. A log that ends in the middle of a line has one such line.
enum class LineFault : std::uint8_t {
  form,    ///< a part is missing, or not where the format has it
  time,    ///< its time cannot be read, or is not one from 1970 to 2099
  status,  ///< its status is not a number from 100 to 599, or -
  length,  ///< it is longer than LogLines::longest
};

}  // namespace weir::replay
