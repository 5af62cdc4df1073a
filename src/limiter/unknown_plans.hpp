// Names of plans that requests give and the configuration does not have. All are counted. Each is
// kept once for the log, up to a bound, because clients may choose them.
//
// note() may be called by any thread; the others by one thread. Allocates only in take().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace weir::limiter {

class UnknownPlans {
 public:
  static constexpr std::size_t most_names = 32;
  static constexpr std::size_t longest_name = 64;  ///< of which this much is kept

  /// A request names this plan in a source, an index into Plans::sources below 256. `name` is
  /// empty: a file names it, which has been reported.
  void note(std::string_view name, std::size_t source) noexcept;
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

  struct Name {
    std::string text;  ///< well-formed UTF-8 on one line, cut; else `?`
    std::size_t source = 0;
    friend bool operator==(const Name&, const Name&) = default;
  };
  struct Names {
    std::vector<Name> fresh;  ///< a name in two sources is two
    bool is_full = false;     ///< since the last call a name came that is not kept; returned once
  };
  /// The names since the last call.
  Names take();
  /// Names count as new again, and those that take() has not returned are dropped, because their
  /// sources are of an earlier configuration. The count stays.
  void forget();

 private:
  struct Kept {
    std::array<char, longest_name> text{};
    std::size_t size = 0;
    std::size_t source = 0;
  };
  void keep(std::string_view name, std::size_t source) noexcept;

  std::atomic<std::uint64_t> count_{0};
  std::array<std::atomic<std::uint64_t>, most_names> seen_{};  ///< hashes; 0: unused
  std::atomic<bool> is_full_{false};
  std::mutex mutex_;
  std::array<Kept, most_names> fresh_;
  std::size_t fresh_count_ = 0;
  bool has_reported_full_ = false;
};

}  // namespace weir::limiter
