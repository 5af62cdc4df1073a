// The wait of one request for a slot of a concurrency limit: carries out the steps of its
// SlotWaitMachine on the worker's loop.
//
// Used from its worker's loop only; other threads only call its ticket.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>

#include "base/time.hpp"
#include "decision/slot_wait_machine.hpp"
#include "limiter/limiter.hpp"
#include "loop/cancellable.hpp"
#include "loop/io.hpp"
#include "proxy/context.hpp"
#include "proxy/decision_record.hpp"
#include "proxy/responder.hpp"
#include "store/store.hpp"

namespace weir::proxy {

/// Waits for a store that does not decide at once: one acquisition, one result, one wait.
///
/// Owned by the exchange. The store completes every acquisition, and the exchange waits for that
/// even if the client leaves or the worker stops, so the exchange outlives the acquisition.
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

/// The part of an exchange that the wait uses. Everything outlives the wait.
struct WaitPhase {
  Context& context;
  limiter::Limiter& limiter;  ///< with a queue
  const ClientSide& client;
  limiter::Evaluation& evaluation;  ///< of a denied request, with `waits_for`
  StoreAnswer& store_answer;
  Instant& asked_at;                  ///< of the last question
  std::optional<Instant> deadline{};  ///< of a gRPC call: the wait ends by then
  DecisionRecord& record;             ///< gets the steps
};

class SlotWait final : public limiter::QueueTicket, public loop::Cancellable {
 public:
  explicit SlotWait(const WaitPhase& phase);
  ~SlotWait() override;

  /// Waits until the request is admitted, or denied for good: by another limit, by a full queue, or
  /// because the longest wait is over. If the client has left, its deadline has passed, or the
  /// connection is aborted, it is the last denial. The evaluation has the verdict then.
  loop::Task<> run();
  /// The time since it was constructed.
  Duration waited() const;

  void cancel() override { timer_.cancel(); }
  void close() override { timer_.cancel(); }

 private:
  using Step = decision::SlotWaitMachine::Step;
  /// A call from another thread reaches the wait through this, if it still exists.
  struct Link {
    SlotWait* wait = nullptr;  ///< used on the worker's thread only
  };

  bool call() noexcept override;
  bool is_interrupted() const;
  loop::Task<> pause(Instant until);
  loop::Task<store::Result> question(bool look);

  const WaitPhase with_;
  loop::Timer timer_;
  const std::shared_ptr<Link> link_;
  const Instant began_at_;
  bool is_called_ = false;             ///< since it paused
  decision::SlotWaitMachine machine_;  ///< destroyed first: then no thread calls the ticket
};

}  // namespace weir::proxy
