// The answer of a collector to an export (OTLP specification, "OTLP/HTTP Response"). Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::telemetry {

enum class ExportOutcome : std::uint8_t {
  accepted,
  retryable,  ///< the same request may succeed later
  rejected,   ///< it never will
};

/// The outcome of a status: 429, 502, 503 and 504 are retryable.
ExportOutcome outcome_of(int status);

/// A part of an accepted request that the collector has rejected; nothing is sent again.
struct PartialSuccess {
  std::uint64_t rejected = 0;  ///< spans or data points; 0 with a message is a warning
  std::string message{};
  friend bool operator==(const PartialSuccess&, const PartialSuccess&) = default;
};

/// Reads the JSON body of an accepted request; nothing if all was accepted or it cannot be read.
std::optional<PartialSuccess> partial_success(std::string_view body);

/// Reads the message of the Status that explains a failure; empty if there is none.
std::string failure_message(std::string_view body);

}  // namespace weir::telemetry
