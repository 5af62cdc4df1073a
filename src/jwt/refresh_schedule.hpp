// When the keys of a URL are fetched: at the start, before they are older than `refresh`, and when
// a token names a key that the set does not have.
//
// Pure: instants, events and random numbers go in, and the time of the next fetch comes out. One
// fetch at a time. Once there are keys, at least `cooldown` passes between the end of a fetch and
// the start of the next one, whatever clients send. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace weir::jwt {

struct RefreshTimes {
  Duration refresh = std::chrono::minutes(10);
  Duration cooldown = std::chrono::seconds(30);  ///< at most `refresh`
  friend bool operator==(const RefreshTimes&, const RefreshTimes&) = default;
};

class RefreshSchedule {
 public:
  /// After a failure without keys, the first retry; each further one waits twice as long, up to
  /// `longest_retry_after` or `cooldown`, the shorter one, because every token is answered 503
  /// meanwhile. With keys a retry waits for `cooldown`. Up to a tenth is added to each wait.
  static constexpr Duration first_retry_after = std::chrono::seconds(1);
  static constexpr Duration longest_retry_after = std::chrono::seconds(10);

  /// The first fetch is due at once.
  RefreshSchedule(RefreshTimes times, Instant now) : times_(times), planned_at_(now) {}

  /// Starts a fetch if one is due. If true, the caller fetches, and calls succeeded() or failed()
  /// once.
  bool start_if_due(Instant now);
  /// The keys have been fetched. `fresh_for`: for how long they may be kept according to the answer
  /// (Cache-Control: max-age); it counts between `cooldown` and `refresh`. The next fetch is up to
  /// a tenth earlier, so that instances do not fetch at the same time.
  void succeeded(Instant now, std::optional<Duration> fresh_for, std::uint64_t random);
  void failed(Instant now, std::uint64_t random);
  /// A token names a key that the set does not have: the next fetch is due as soon as `cooldown`
  /// has passed. Any number of calls causes one fetch. The keys of a fetch in progress are taken to
  /// be newer than the call.
  void note_unknown_key();

  /// Keys fetched by an earlier schedule are in use. The first fetch stays due at once.
  void inherit_keys() { has_keys_ = true; }
  /// Other times apply from now on.
  void set(RefreshTimes times);
  /// If the last fetch failed, the next one is due at once: the configuration may be better now.
  void retry_now(Instant now);

  /// When the next fetch is due; nothing while one is in progress.
  std::optional<Instant> next_at() const;

 private:
  RefreshTimes times_;
  Instant planned_at_;
  Instant ended_at_{};  ///< the last fetch; meaningful once there was one
  bool is_fetching_ = false;
  bool has_keys_ = false;
  bool is_key_unknown_ = false;
  int failures_ = 0;  ///< in a row
};

}  // namespace weir::jwt
