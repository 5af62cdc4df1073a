#include "admin/status_feed.hpp"

#include <new>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "admin/messages.hpp"
#include "admin/process_stats.hpp"
#include "status/json.hpp"
#include "status/page.hpp"

namespace weir::admin {

using boost::asio::steady_timer;
using boost::asio::use_awaitable;

/// An open page. Its timer never expires by itself.
class StatusFeed::Page {
 public:
  explicit Page(StatusFeed& feed)
      : feed_(feed),
        changed_(feed.io_, steady_timer::time_point::max()),
        position_(feed.pages_.insert(feed.pages_.end(), &changed_)) {}
  ~Page() { feed_.pages_.erase(position_); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  steady_timer& changed() { return changed_; }

 private:
  StatusFeed& feed_;
  steady_timer changed_;
  std::list<steady_timer*>::iterator position_;
};

/// Events are made while it exists, whatever ends them.
class StatusFeed::Ticking {
 public:
  explicit Ticking(StatusFeed& feed) : feed_(&feed) { feed.is_ticking_ = true; }
  Ticking(Ticking&& other) noexcept : feed_(std::exchange(other.feed_, nullptr)) {}
  Ticking& operator=(Ticking&&) = delete;
  ~Ticking() {
    if (feed_ == nullptr) return;
    feed_->event_ = nullptr;
    feed_->latest_.reset();
    feed_->is_ticking_ = false;
  }

 private:
  StatusFeed* feed_;
};

std::vector<AdminEndpoint> StatusFeed::endpoints() {
  return {{.path = "/",
           .methods = "GET, HEAD",
           .handle = [this](const AdminCall& call, const Instruments&,
                            const Reply& reply) { answer_page(call, reply); },
           .access = Access::page,
           .ignores_query = true},
          {"/v1/status", "GET, HEAD",
           [this](const AdminCall&, const Instruments&, Reply reply) {
             boost::asio::co_spawn(io_, answer_status(std::move(reply)), boost::asio::detached);
           }},
          {.path = "/v1/status/events", .methods = "GET, HEAD", .handle = {}, .is_stream = true}};
}

status::WindowReport StatusFeed::read() {
  const Instant now = clock_.now();
  try {
    status::Status status = source_.read(shown_(), read_process_usage(), now);
    status.top = top_.at(now);
    return window_.add(std::move(status));
  } catch (...) {
    source_.restart();
    window_ = {};
    throw;
  }
}

/// Without the token the page has nothing of the process.
void StatusFeed::answer_page(const AdminCall& call, const Reply& reply) {
  reply({.content_type = "text/html; charset=utf-8",
         .body = call.is_authorized ? status::page(latest_ ? latest_->report : read().report)
                                    : status::locked_page(),
         .security_policy = status::security_policy()});
}

/// Takes a second if there is no earlier status, so that there are rates.
boost::asio::awaitable<void> StatusFeed::answer_status(Reply reply) {
  try {
    if (latest_ && latest_->report.over) {
      reply({.content_type = "application/json", .body = status::to_json(*latest_) + '\n'});
      co_return;
    }
    if (!window_.is_measured_at(clock_.now())) {
      read();
      steady_timer second(io_, times_.event_interval);
      co_await second.async_wait(use_awaitable);
    }
    reply({.content_type = "application/json", .body = status::to_json(read()) + '\n'});
    co_return;
  } catch (const std::bad_alloc&) {
    // Answered below: the caller waits for a reply.
  }
  reply(problem_answer(503, "out of memory; repeat the request"));
}

/// Makes events until no page is open.
boost::asio::awaitable<void> StatusFeed::tick(Ticking /*ticking*/) {
  steady_timer next(io_, steady_timer::clock_type::now());
  while (!pages_.empty()) {
    try {
      latest_ = read();
      event_ = std::make_shared<const std::string>("data: " + status::to_json(*latest_) + "\n\n");
    } catch (const std::bad_alloc&) {
      // The pages get the next one.
    }
    for (steady_timer* page : pages_)
      page->cancel();
    next.expires_after(times_.event_interval);
    co_await next.async_wait(use_awaitable);
  }
}

boost::asio::awaitable<void> StatusFeed::serve(Stream& stream, bool is_head,
                                               std::function<bool()> may_continue) {
  namespace beast_http = boost::beast::http;
  Page page(*this);  // counts from now on
  const auto head = stream_head();
  beast_http::response_serializer<beast_http::empty_body> serializer(head);
  stream.expires_after(times_.slowest_page);
  co_await beast_http::async_write_header(stream, serializer, use_awaitable);
  if (is_head) co_return;
  if (!is_ticking_) {
    Ticking ticking(*this);
    boost::asio::co_spawn(io_, tick(std::move(ticking)), boost::asio::detached);
  }
  std::shared_ptr<const std::string> sent;
  while (true) {
    while (event_ == sent) {
      boost::system::error_code cancelled;
      co_await page.changed().async_wait(boost::asio::redirect_error(use_awaitable, cancelled));
    }
    // Without memory the events have ended; the browser asks for the page again.
    if (!event_ || !may_continue()) co_return;
    sent = event_;
    stream.expires_after(times_.slowest_page);
    co_await boost::asio::async_write(stream, boost::asio::buffer(*sent), use_awaitable);
  }
}

}  // namespace weir::admin
