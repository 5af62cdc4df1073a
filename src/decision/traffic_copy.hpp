// A copy of the requests of one worker, which another thread decides under other configurations.
//
// The worker adds each request when it has its first decision, and its end, and each call of the
// rate limit service when it is decided. The other thread takes what has been added, from time to
// time. The copy is bounded: if the other thread is late, requests and calls are skipped as a whole
// and counted. Pure. Thread-safe: one thread adds, another one takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.hpp"
#include "base/time.hpp"
#include "http/received_request.hpp"
#include "limiter/charge.hpp"
#include "limiter/held_units.hpp"
#include "usage/usage_scanner.hpp"

namespace weir::decision {

/// Writes the head of a request in HTTP/1, with the target in origin or asterisk form. A request of
/// HTTP/2 whose body has no length gets Transfer-Encoding, so that a reader of the head expects the
/// body.
void append_head(std::string& to, const http::ReceivedRequest& request);

/// The method of a call of the rate limit service, and the form of its message.
enum class CopiedMethod : std::uint8_t {
  decide,       ///< ShouldRateLimit, as Protocol Buffers
  decide_json,  ///< the same as JSON
  check,        ///< CheckRateLimit
  report,       ///< Report
};

/// A request, the end of one, or a call of the rate limit service.
struct CopiedEvent {
  std::uint64_t number = 0;  ///< of the request
  Instant at{};
  bool is_end = false;
  std::optional<CopiedMethod> call{};  ///< empty: no call. The message of a call is its body

  // A request: its head, and then its decoded body as far as a limit reads it, in
  // CopiedTraffic::text.
  IpAddress peer{};
  std::size_t text_begin = 0;
  std::size_t head_size = 0;
  std::size_t body_size = 0;

  // An end: its costs are in CopiedTraffic::costs.
  limiter::RequestEnd how{};
  std::optional<Duration> served{};  ///< since its admission; empty: it was not admitted
  std::size_t costs_begin = 0;
  std::size_t cost_count = 0;
};

struct CopiedCost {
  std::string policy{};  ///< its name
  usage::Usage usage{};  ///< as the response has stated it
};

/// The requests and ends that a worker has added, in that order.
struct CopiedTraffic {
  std::vector<CopiedEvent> events;
  std::string text;
  std::vector<CopiedCost> costs;
  std::uint64_t skipped = 0;  ///< requests and calls without room, and those of skip()

  /// Keeps the memory.
  void clear();
  std::string_view head_of(const CopiedEvent& event) const {
    return std::string_view(text).substr(event.text_begin, event.head_size);
  }
  std::string_view body_of(const CopiedEvent& event) const {
    return std::string_view(text).substr(event.text_begin + event.head_size, event.body_size);
  }
};

class TrafficCopy {
 public:
  /// The most bytes of heads and bodies that are not taken yet.
  static constexpr std::size_t most_text = 1024 * 1024;

  /// `first`: the number of the first request, at least 1. Numbers are unique among all copies if
  /// these are far enough from each other.
  explicit TrafficCopy(std::uint64_t first) : next_(first) {}

  struct Arrival {
    Instant at{};
    const http::ReceivedRequest& request;  ///< its head has been inspected
    std::string_view body{};               ///< decoded, as far as it was read
  };
  /// Returns the number of the request; 0: it is skipped, because there is no room or no memory.
  std::uint64_t add(const Arrival& arrival) noexcept;

  /// Adds a call of the rate limit service, which ends with its decision. Without room it is
  /// skipped.
  void add(CopiedMethod method, std::string_view message, Instant at) noexcept;

  /// Counts a request or a call that cannot be compared.
  void skip() noexcept;

  struct End {
    std::uint64_t number = 0;
    Instant at{};
    limiter::RequestEnd how{};
    std::optional<Duration> served{};
    const limiter::HeldUnits* held = nullptr;  ///< with the stated costs; nullptr: none
  };
  /// Always has room, because each end follows a request that had.
  void add(const End& end) noexcept;

  /// Replaces `taken` by what has been added since the last call.
  void take(CopiedTraffic& taken);

 private:
  std::uint64_t copy(const Arrival& arrival);
  void copy(CopiedMethod method, std::string_view message, Instant at);
  void copy(const End& end);

  std::mutex mutex_;
  std::uint64_t next_;
  CopiedTraffic added_;
};

}  // namespace weir::decision
