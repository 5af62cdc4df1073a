// Waits for a store that does not decide at once: one acquisition, one result, one wait.
//
// Owned by the exchange. The store completes every acquisition, and the exchange waits for that
// even if the client leaves or the worker stops, so the exchange outlives the acquisition.
#pragma once

#include <utility>

#include <boost/asio/post.hpp>

#include "loop/io.hpp"
#include "store/store.hpp"

namespace weir::proxy {

class StoreAnswer final : public store::Completion {
 public:
  /// Never called from within acquire(), so the exchange is waiting by then.
  void complete(const store::Result& result, Instant) noexcept override {
    result_ = result;
    // Resume later: the store is still reading its responses here.
    asio::post(*io_, [waiting = std::move(waiting_)]() mutable { waiting.resume(); });
  }

  class Arrival {
   public:
    Arrival(StoreAnswer& answer, asio::io_context& io) : answer_(answer) { answer_.io_ = &io; }
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> task) {
      answer_.waiting_ = loop::Suspended(task);
    }
    const store::Result& await_resume() const noexcept { return answer_.result_; }

   private:
    StoreAnswer& answer_;
  };

  /// Await this right after acquire().
  Arrival arrival(asio::io_context& io) { return {*this, io}; }

 private:
  asio::io_context* io_ = nullptr;
  loop::Suspended waiting_;
  store::Result result_;
};

}  // namespace weir::proxy
