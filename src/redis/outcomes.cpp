#include "redis/outcomes.hpp"

#include "redis/error_reply.hpp"

namespace weir::redis {

void Outcomes::on_ready() {
  has_decided_ = false;
  last_error_.clear();
  counters_.connects.add();
}

void Outcomes::on_error_reply(store::Error error, std::string_view text) {
  last_error_ = printable(text);
  last_replies_[static_cast<std::size_t>(error)] = last_error_;
}

/// A key that was forgotten is a result without an error and without a decision.
void Outcomes::on_result(const store::Result& result) {
  if (result.error != store::Error::none) {
    has_decided_ = false;
    counters_.errors[static_cast<std::size_t>(result.error)].add();
  } else if (result.decided != 0) {
    has_decided_ = true;
  }
}

}  // namespace weir::redis
