// The results of a store that a task awaits together. Used from one loop only.
#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <vector>

#include "loop/io.hpp"
#include "store/store.hpp"

namespace weir::proxy {

class StoreAnswers {
 public:
  /// Receives one of them.
  class One final : public store::Completion {
   public:
    explicit One(StoreAnswers& all) : all_(all) {}
    void complete(const store::Result& result, Instant) noexcept override;
    store::Result result;

   private:
    StoreAnswers& all_;
  };

  explicit StoreAnswers(asio::io_context& io) : io_(io) {}
  StoreAnswers(const StoreAnswers&) = delete;
  StoreAnswers& operator=(const StoreAnswers&) = delete;

  /// The completion of the decision with this number.
  One& at(std::size_t index);
  /// A decision will complete later.
  void expect() { ++pending_; }

  class Arrival {
   public:
    explicit Arrival(StoreAnswers& all) : all_(all) {}
    bool await_ready() const noexcept { return all_.pending_ == 0; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> task) {
      all_.waiting_ = loop::Suspended(task);
    }
    void await_resume() const noexcept {}

   private:
    StoreAnswers& all_;
  };

  /// Await this: all that were expected have completed. An object of its own, because GCC 12 awaits
  /// a copy of a member.
  Arrival arrival() { return Arrival(*this); }

 private:
  asio::io_context& io_;
  std::vector<std::unique_ptr<One>> all_;
  std::size_t pending_ = 0;
  loop::Suspended waiting_;
};

}  // namespace weir::proxy
