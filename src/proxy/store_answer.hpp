// Waits for the answer of the shared store: one question, one answer, one wait. The store answers
// every question, for the waiting task lies in the frame that it belongs to.
#pragma once

#include <utility>

#include <boost/asio/post.hpp>

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
    asio::post(io_, [waiting = std::move(waiting_)]() mutable { waiting.resume(); });
  }

  class Arrival {
   public:
    explicit Arrival(StoreAnswer& answer) : answer_(answer) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> task) {
      answer_.waiting_ = Suspended(task);
    }
    void await_resume() const noexcept {}

   private:
    StoreAnswer& answer_;
  };

  /// To be awaited right after asking.
  Arrival arrival() { return Arrival(*this); }

  redis::StoreError error() const { return error_; }

 private:
  asio::io_context& io_;
  Suspended waiting_;
  redis::StoreError error_ = redis::StoreError::none;
};

}  // namespace weir::proxy
