// The virtual time: what happens next, in the order of the instants. Pure.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "simulation/settings.hpp"

namespace weir::simulation {

class Actor {
 public:
  /// `step`: which of its events it is.
  virtual void act(int step, Nanoseconds now) = 0;

 protected:
  ~Actor() = default;
};

class Events {
 public:
  void add(Nanoseconds at, Actor& actor, int step = 0) {
    events_.push({.at = at, .number = ++number_, .actor = &actor, .step = step});
  }
  bool has_before(Nanoseconds end) const { return !events_.empty() && events_.top().at < end; }
  /// There is an event.
  Nanoseconds next_at() const { return events_.top().at; }
  void run_next() {
    const Event next = events_.top();
    events_.pop();
    next.actor->act(next.step, next.at);
  }

 private:
  struct Event {
    Nanoseconds at = 0;
    std::uint64_t number = 0;  ///< events of one instant happen in the order of add()
    Actor* actor = nullptr;
    int step = 0;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  std::priority_queue<Event> events_;
  std::uint64_t number_ = 0;
};

}  // namespace weir::simulation
