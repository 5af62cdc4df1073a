#include "upstream/http2_connections.hpp"

#include <utility>

namespace weir::upstream {

/// Requests in progress keep their connection.
Http2Connections::~Http2Connections() {
  for (const auto& one : connections_)
    one->when_settled = nullptr;
  close_when_idle();
}

std::shared_ptr<Http2Connection> Http2Connections::find() {
  std::erase_if(connections_, [](const auto& one) {
    if (!one->is_over()) return false;
    one->close();
    return true;
  });
  for (const auto& one : connections_) {
    if (one->can_open()) return one;
  }
  return nullptr;
}

std::shared_ptr<Http2Connection> Http2Connections::add(std::unique_ptr<Connection> connection,
                                                       std::uint64_t tick) {
  auto made = std::make_shared<Http2Connection>(io_, std::move(connection));
  made->idle_since = tick;
  if (closes_) made->close_after_use();
  ++openings_;
  made->when_settled = [this] {
    --openings_;
    wake();
  };
  made->start();
  connections_.push_back(made);
  return made;
}

Http2Connections::Opening::~Opening() {
  --connections_.openings_;
  connections_.wake();
}

void Http2Connections::wake() {
  for (loop::Event* const event : waiting_)
    event->notify();
}

loop::Task<error_code> Http2Connections::await_opening(loop::Event& event) {
  const Listed listed(waiting_, event);
  co_return co_await event.wait();
}

void Http2Connections::close_if(std::uint64_t tick,
                                const std::function<bool(const Http2Connection&)>& condition) {
  for (const auto& one : connections_) {
    if (!one->is_idle()) one->idle_since = tick;
    ++one->looks;
    if (closes_ || condition(*one)) one->close_when_idle();
  }
  std::erase_if(connections_, [](const auto& one) { return one->is_lost(); });
}

void Http2Connections::close_idle() {
  std::erase_if(connections_, [](const auto& one) {
    if (!one->is_idle()) return false;
    one->close();
    return true;
  });
}

void Http2Connections::close_when_idle() {
  closes_ = true;
  for (const auto& one : connections_)
    one->close_when_idle();
}

}  // namespace weir::upstream
