#include "redis/outcomes.hpp"

#include <new>

#include "redis/error_reply.hpp"

namespace weir::redis {

void Outcomes::on_ready() {
  has_decided_ = false;
  last_error_.clear();
  counters_.connects.add();
}

void Outcomes::on_error_reply(store::Error error, std::string_view text) noexcept {
  std::string& last_reply = last_replies_[static_cast<std::size_t>(error)];
  try {
    last_error_ = printable(text);
    last_reply = last_error_;
  } catch (const std::bad_alloc&) {
    // A text of this size is in the string itself.
    last_error_ = printable(text.substr(0, std::string().capacity()));
    last_reply = last_error_;
  }
}

}  // namespace weir::redis
