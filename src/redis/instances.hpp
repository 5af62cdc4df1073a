// The instances that use one Redis with one key prefix, from their announcements.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace weir::redis {

/// Describes an instance to the others.
struct Announcement {
  std::string id;      ///< hexadecimal digits, of the process
  std::string digest;  ///< hexadecimal digits: instances with the same limits have the same
};

/// Another instance whose announcement has not expired.
struct OtherInstance {
  std::string id;
  std::string digest;
  Instant ends;  ///< by the clock of Redis; later after each announcement
  friend bool operator==(const OtherInstance&, const OtherInstance&) = default;
};

using OtherInstances = std::vector<OtherInstance>;

/// An instance is listed for this time after its last announcement.
inline constexpr Duration announcement_lifetime = std::chrono::seconds(20);
/// Further instances are not listed.
inline constexpr std::size_t most_instances = 1000;

/// Receives the others, or nullptr if Redis did not return them.
using AnnouncementDone = std::function<void(const OtherInstances*)>;

}  // namespace weir::redis
