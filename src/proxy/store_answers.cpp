#include "proxy/store_answers.hpp"

#include <utility>

namespace weir::proxy {

/// The task is resumed later: the store is still reading its responses here.
void StoreAnswers::One::complete(const store::Result& its_result, Instant) noexcept {
  result = its_result;
  if (--all_.pending_ == 0 && all_.waiting_.is_waiting())
    asio::post(all_.io_, [waiting = std::move(all_.waiting_)]() mutable { waiting.resume(); });
}

StoreAnswers::One& StoreAnswers::at(std::size_t index) {
  while (all_.size() <= index)
    all_.push_back(std::make_unique<One>(*this));
  return *all_[index];
}

}  // namespace weir::proxy
