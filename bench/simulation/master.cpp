#include "simulation/master.hpp"

#include <algorithm>

namespace weir::simulation {

Nanoseconds Master::serve(Nanoseconds arrival, Nanoseconds service) {
  while (rate_ > 0 && next_at_ <= arrival) {
    free_at_ = std::max(free_at_, next_at_) + service_;
    background_worked_ += service_;
    next_at_ += gap();
  }
  free_at_ = std::max(free_at_, arrival) + service;
  worked_ += service;
  return free_at_;
}

void Master::set_background(Nanoseconds now, double load, Nanoseconds service) {
  serve(now, 0);
  service_ = service;
  rate_ = load / static_cast<double>(service);
  next_at_ = rate_ > 0 ? now + gap() : 0;
}

}  // namespace weir::simulation
