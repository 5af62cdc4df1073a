// The events about which Redis was asked whether another instance has reported them, until it
// answers or `patience` is over. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "limiter/quota_events.hpp"
#include "store/event_marks.hpp"

namespace weir::app {

/// The mark for an event. `name`: of its policy. Pure.
store::EventMark mark_of(const limiter::QuotaEvent& event, std::string name, Instant now);

class EventQuestions {
 public:
  static constexpr std::size_t most = 1024;
  /// Redis counts as lost for an event that it has not answered in this time.
  static constexpr Duration patience = std::chrono::seconds(5);

  /// Returns the number of the question.
  std::uint64_t add(const limiter::QuotaEvent& event, Instant now) {
    pending_.emplace(++last_, Question{event, now});
    return last_;
  }
  /// The event of a question that is answered; nothing: it was overdue before.
  std::optional<limiter::QuotaEvent> take(std::uint64_t number) {
    const auto found = pending_.extract(number);
    if (!found) return std::nullopt;
    return found.mapped().event;
  }
  /// Returns the events whose answer has not come in time, or all that were asked before `until`.
  std::vector<limiter::QuotaEvent> take_asked_before(Instant until) {
    std::vector<limiter::QuotaEvent> events;
    while (!pending_.empty() && pending_.begin()->second.asked_at < until) {
      events.push_back(pending_.begin()->second.event);
      pending_.erase(pending_.begin());
    }
    return events;
  }
  std::size_t room() const { return most - pending_.size(); }
  bool is_empty() const { return pending_.empty(); }

 private:
  struct Question {
    limiter::QuotaEvent event;
    Instant asked_at{};
  };

  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Question> pending_;  ///< in the order in which they were asked
};

}  // namespace weir::app
