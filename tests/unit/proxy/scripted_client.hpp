// A client without sockets and without a protocol: the second implementation of RequestBody and
// Responder. The test controls which bytes of the body arrive and which bytes of the response the
// client accepts.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "loop/io.hpp"
#include "proxy/responder.hpp"
#include "unit/http/lines_of.hpp"

namespace weir::proxy::test {

/// Suspends a task until the test opens the gate. A cancellation without a task has no effect.
class Gate final : public loop::Cancellable {
 public:
  explicit Gate(asio::io_context& io) : timer_(io.get_executor(), loop::Timer::time_point::max()) {}

  loop::Task<error_code> wait() {
    if (is_closed_) co_return asio::error::operation_aborted;
    is_opened_ = false;
    is_waited_for_ = true;
    error_code ec;
    co_await timer_.async_wait(loop::into(ec));
    co_return is_opened_ ? error_code{} : error_code(asio::error::operation_aborted);
  }
  bool is_waited_for() const { return is_waited_for_; }
  void open() {
    is_opened_ = true;
    cancel();
  }
  void cancel() override {
    is_waited_for_ = false;
    timer_.cancel();
  }
  void close() override {
    is_closed_ = true;
    cancel();
  }

 private:
  loop::Timer timer_;
  bool is_opened_ = false;
  bool is_closed_ = false;
  bool is_waited_for_ = false;
};

class ScriptedBody final : public RequestBody {
 public:
  explicit ScriptedBody(asio::io_context& io) : gate(io) {}

  // Functions for the test.
  void begin(bool has_body) {
    has_body_ = has_body;
    has_ended_ = !has_body;
    received_ = 0;
    items_.clear();
    next_ = 0;
  }
  void arrive(std::string piece) { add({BodyState::payload, std::move(piece)}); }
  void end() { add({BodyState::ended, {}}); }
  void end_with_trailer(std::string name, std::string value) {
    add({BodyState::ended, std::move(name), std::move(value)});
  }
  void be_malformed() { add({BodyState::malformed, {}}); }
  void break_off() {
    is_broken_ = true;
    gate.open();
  }
  /// True if nothing has arrived and the code under test waits for more.
  bool is_waited_for() const { return gate.is_waited_for(); }
  std::size_t pulled() const { return next_; }  ///< pieces

  BodyState pull(std::string_view& piece) override {
    piece = {};
    if (has_ended_) return BodyState::ended;
    if (next_ == items_.size()) return BodyState::exhausted;
    const Item& item = items_[next_];
    if (item.state == BodyState::malformed) return item.state;
    ++next_;
    has_ended_ = item.state == BodyState::ended;
    if (!has_ended_) {
      piece = item.text;
      received_ += piece.size();
    } else if (!item.text.empty() && trailers_ != nullptr) {
      trailers_->add({.name = item.text, .value = item.value});
    }
    return item.state;
  }
  loop::Task<error_code> fill() override {
    while (next_ == items_.size()) {
      if (is_broken_) co_return asio::error::connection_reset;
      if (const error_code ec = co_await gate.wait()) co_return ec;
    }
    was_filled_ = true;
    co_return error_code{};
  }
  void cancel() override { gate.cancel(); }
  void keep_trailers(http::Trailers& trailers) override { trailers_ = &trailers; }
  void keep(std::size_t most) override { keeps = most; }
  bool is_kept() const override {
    std::size_t size = 0;
    for (const Item& item : items_)
      size += item.state == BodyState::payload ? item.text.size() : 0;
    return !was_filled_ || size <= keeps;
  }
  bool client_has_left() override { return false; }
  bool can_keep_more() const override { return is_kept(); }
  void rewind() override {
    CHECK(is_kept());
    ++rewinds;
    next_ = 0;
    received_ = 0;
    has_ended_ = !has_body_;
  }

  Gate gate;
  std::size_t keeps = 0;  ///< the argument of keep()
  int rewinds = 0;

 private:
  struct Item {
    BodyState state;
    std::string text;  ///< of a trailer field: its name
    std::string value{};
  };
  void add(Item item) {
    items_.push_back(std::move(item));
    gate.open();
  }

  bool has_body_ = false;
  bool is_broken_ = false;
  bool was_filled_ = false;
  std::vector<Item> items_;
  std::size_t next_ = 0;
  http::Trailers* trailers_ = nullptr;
};

/// The part of the final response that the client has received.
struct ReceivedResponse {
  int status = 0;
  bool is_weirs_own = false;
  bool is_whole = false;
  std::string fields;  ///< field lines; for a response of Weir's own, the added ones
  std::string content_type;
  std::string body;
  std::string limit_fields;
  std::string trailers;
};

class ScriptedResponder final : public Responder {
 public:
  ScriptedResponder(asio::io_context& io, Watchdog& watchdog) : gate(io), watchdog_(watchdog) {}

  // Functions for the test.
  void begin_request() {
    clear();
    received = {};
    interims.clear();
  }

  loop::Task<> answer(OwnAnswer answer) override {
    CHECK_FALSE(has_begun_);
    begin_with(answer.status);
    grpc_status_ = answer.grpc_status;
    built_.is_weirs_own = true;
    built_.content_type = answer.content_type;
    built_.fields = http::lines_of(*answer.fields);
    built_.limit_fields = http::lines_of(*answer.limit_fields);
    built_.body = answer.body;
    built_.is_whole = true;
    error_code ec;
    if (send(ec)) ec = co_await flush();
  }
  loop::Task<error_code> interim(const http::ResponseHead& head) override {
    CHECK_FALSE(has_begun_);
    interims.push_back(head.line.status);
    if (is_slow) co_return co_await gate.wait();
    co_return fails ? error_code(asio::error::broken_pipe) : error_code{};
  }
  void begin(const ForwardedAnswer& answer) override {
    CHECK_FALSE(has_begun_);
    begin_with(answer.head.line.status);
    for (const auto& field : answer.head.fields)
      built_.fields.append(field.name).append(": ").append(field.value).append("\r\n");
    built_.limit_fields = http::lines_of(*answer.limit_fields);
    date = answer.date;
  }
  bool append(std::string_view piece) override {
    if (piece.size() > gather_limit) return false;
    built_.body.append(piece);
    return true;
  }
  void end(const http::FieldSection& trailers) override {
    built_.trailers = http::lines_of(trailers);
    built_.is_whole = true;
  }
  bool send(error_code& ec) override {
    ec = {};
    has_begun_ = true;
    if (fails) ec = asio::error::broken_pipe;
    if (is_slow) return true;
    if (!ec) take();
    return false;
  }
  loop::Task<error_code> flush() override {
    watchdog_.arm(Phase::body, timeout);
    const error_code ec = co_await gate.wait();
    if (!ec) take();
    co_return ec;
  }
  loop::Task<error_code> send_from_place(std::string_view piece) override {
    ++large_pieces;
    watchdog_.arm(Phase::body, timeout);
    if (is_slow) {
      if (const error_code ec = co_await gate.wait()) co_return ec;
    }
    built_.body.append(piece);
    take();
    co_return error_code{};
  }
  loop::Task<error_code> switch_protocols(const ForwardedAnswer& answer) override {
    begin(answer);
    error_code ec;
    send(ec);
    co_return ec;
  }
  loop::Task<bool> tunnel(TunnelEnd upstream) override {
    has_tunnel = true;
    tunnel_began_with = upstream.input.data();
    tunnel_timeout = upstream.idle_timeout;
    co_return !co_await gate.wait();
  }
  void reset() override { ++resets; }

  Gate gate;  ///< opens when a slow client accepts the bytes sent, or when a tunnel ends
  bool is_slow = false;
  bool fails = false;  ///< every send fails
  Duration timeout = std::chrono::seconds(60);

  ReceivedResponse received;
  std::vector<int> interims;
  std::string date;
  int resets = 0;
  int large_pieces = 0;
  bool has_tunnel = false;
  std::string tunnel_began_with;
  Duration tunnel_timeout{0};

 private:
  void begin_with(int status) {
    status_ = status;
    built_ = {};
    built_.status = status;
  }
  void take() {
    bytes_sent_ += built_.body.size() - received.body.size();
    received = built_;
  }

  Watchdog& watchdog_;
  ReceivedResponse built_;
};

class ScriptedClient final : public loop::Cancellable {
 public:
  ScriptedClient(asio::io_context& io, DeadlineWheel& wheel)
      : watchdog(wheel, *this), body(io), responder(io, watchdog) {}

  void cancel() override {
    body.gate.cancel();
    responder.gate.cancel();
  }
  void close() override {
    is_closed = true;
    body.gate.close();
    responder.gate.close();
  }

  Watchdog watchdog;
  ScriptedBody body;
  ScriptedResponder responder;
  const ClientSide side{.watchdog = &watchdog, .body = &body, .responder = &responder, .number = 7};
  bool is_closed = false;
};

/// Runs a task of the code under test and sets `ended` when it is complete.
inline loop::Task<> note_end(loop::Task<> task, bool& ended) {
  loop::Task<> ends_first = std::move(task);
  co_await ends_first;
  ended = true;
}
template <class T>
loop::Task<> note_result(loop::Task<T> task, std::optional<T>& result) {
  loop::Task<T> ends_first = std::move(task);
  result = co_await ends_first;
}

}  // namespace weir::proxy::test
