// The answers of admin calls that a store makes: each is given once, by the store, by an alarm, or
// because the process is draining. Used on the server's thread only.
#pragma once

#include <list>
#include <memory>
#include <stop_token>
#include <utility>

#include "admin/endpoints.hpp"
#include "base/time.hpp"
#include "loop/calls.hpp"

namespace weir::app {

/// A handler that passes calls of the admin server to `service.handle()`, on the loop of `io`.
template <class Service>
admin::Handler posted(boost::asio::io_context& io, Service& service) {
  return [&io, &service](admin::AdminCall call, const admin::Instruments&, admin::Reply reply) {
    loop::post(io, [&service, call = std::move(call), reply = std::move(reply)] {
      service.handle(call, reply);
    });
  };
}

class PendingAnswers {
 public:
  /// A call that is not answered yet. Derived types have what its answer needs.
  struct Call {
    Call(boost::asio::io_context& io, admin::Reply its_reply)
        : reply(std::move(its_reply)), alarm(io) {}
    bool is_over() const { return over.stop_requested(); }

    admin::Reply reply;
    loop::Alarm alarm;
    std::stop_source over{};  ///< the store's threads read it too
  };

  bool is_stopped() const { return is_stopped_; }
  /// `call` waits; it gets `late` if there is no other answer within `longest`.
  void add(const std::shared_ptr<Call>& call, Duration longest, admin::AdminAnswer late) {
    calls_.push_back(call);
    answer_after(call, longest, std::move(late));
  }
  /// Answers a call that is not over.
  void answer(Call& call, admin::AdminAnswer answer) {
    call.over.request_stop();
    call.alarm.cancel();
    const admin::Reply reply = std::move(call.reply);
    std::erase_if(calls_, [&call](const auto& one) { return one.get() == &call; });
    reply(std::move(answer));
  }
  /// Answers after `delay`, unless the call ends before or is to end at another time.
  void answer_after(const std::shared_ptr<Call>& call, Duration delay, admin::AdminAnswer later) {
    call->alarm.set(delay, [this, call, later = std::move(later)] { answer(*call, later); });
  }
  static admin::AdminAnswer draining() {
    return admin::problem_answer(503, "the process is draining");
  }
  /// Answers the calls that are not answered. Later ones must not be added.
  void stop() {
    is_stopped_ = true;
    while (!calls_.empty()) {
      const auto call = calls_.front();
      answer(*call, draining());
    }
  }

 private:
  std::list<std::shared_ptr<Call>> calls_;
  bool is_stopped_ = false;
};

}  // namespace weir::app
