// Waits for the answer of the shared store: one question, one answer, one wait.
#pragma once

#include <optional>
#include <utility>

#include "proxy/io.hpp"
#include "redis/receiver.hpp"

namespace weir::proxy {

class StoreAnswer final : public redis::Receiver {
 public:
  explicit StoreAnswer(asio::io_context& io) : io_(io) {}

  /// Never called by the store from within ask(), so whoever asked is waiting by then.
  void on_answer(redis::StoreError error) override {
    error_ = error;
    // Not at once: the store is in the middle of reading its answers.
    asio::post(io_, std::move(*waiting_));
  }

  /// To be awaited right after asking.
  auto arrival() {
    return asio::async_initiate<Token, void()>(
        [this](auto&& waiting) { waiting_.emplace(std::forward<decltype(waiting)>(waiting)); },
        token_);
  }

  redis::StoreError error() const { return error_; }

 private:
  using Token = asio::use_awaitable_t<Executor>;
  using Waiting = asio::async_result<Token, void()>::handler_type;

  asio::io_context& io_;
  Token token_;
  std::optional<Waiting> waiting_;
  redis::StoreError error_ = redis::StoreError::none;
};

}  // namespace weir::proxy
