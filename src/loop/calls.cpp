#include "loop/calls.hpp"

#include <cstdint>
#include <utility>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include "loop/io.hpp"

namespace weir::loop {

void post(asio::io_context& io, std::function<void()> function) {
  asio::post(io, std::move(function));
}

struct Alarm::State {
  explicit State(asio::io_context& io) : timer(io.get_executor()) {}
  Timer timer;
  std::uint64_t number = 0;  ///< of the call that is to come
};

Alarm::Alarm(asio::io_context& io) : state_(std::make_shared<State>(io)) {}

Alarm::~Alarm() {
  cancel();
}

void Alarm::set(Duration after, std::function<void()> function) {
  state_->timer.expires_after(after);
  state_->timer.async_wait([state = state_, number = ++state_->number,
                            function = std::move(function)](const error_code& ec) {
    // A wait that has expired cannot be cancelled.
    if (!ec && state->number == number) function();
  });
}

void Alarm::cancel() {
  ++state_->number;
  state_->timer.cancel();
}

struct ReadWatch::State {
  asio::posix::basic_stream_descriptor<Executor> descriptor;
  std::function<void()> readable;
  bool has_ended = false;

  static void wait(std::shared_ptr<State> self) {
    auto& descriptor = self->descriptor;
    descriptor.async_wait(descriptor.wait_read,
                          [self = std::move(self)](const error_code& ec) mutable {
                            if (ec || self->has_ended) return;
                            self->readable();
                            if (!self->has_ended) wait(std::move(self));
                          });
  }
};

ReadWatch::ReadWatch(asio::io_context& io, Descriptor descriptor, std::function<void()> readable)
    : state_(new State{.descriptor = {io.get_executor(), descriptor.release()},
                       .readable = std::move(readable)}) {
  State::wait(state_);
}

ReadWatch::~ReadWatch() {
  state_->has_ended = true;
  error_code ignored;
  state_->descriptor.close(ignored);
}

}  // namespace weir::loop
