#include "redis/hiredis_adapter.hpp"

#include <hiredis/async.h>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/post.hpp>

#include "loop/poller.hpp"

namespace weir::redis {

HiredisAdapter::HiredisAdapter(asio::io_context& io, redisAsyncContext& context, bool encrypted,
                               Owner& owner)
    : io_(io),
      context_(context),
      owner_(owner),
      encrypted_(encrypted),
      bounds_(*context.c.reader),
      descriptor_(io.get_executor(), context.c.fd) {
  asio::use_service<loop::Poller>(io).interleave(*this);
  // hiredis may repeat these calls.
  context.ev.data = this;
  context.ev.addRead = [](void* self) noexcept {
    static_cast<HiredisAdapter*>(self)->wait_to_read();
  };
  context.ev.addWrite = [](void* self) noexcept {
    static_cast<HiredisAdapter*>(self)->ask_to_write();
  };
  // An unneeded wait is harmless, and cancelling it is a system call.
  context.ev.delRead = [](void*) noexcept {};
  context.ev.delWrite = [](void*) noexcept {};
  context.ev.cleanup = [](void* self) noexcept { static_cast<HiredisAdapter*>(self)->clean_up(); };
}

void HiredisAdapter::serve() noexcept {
  if ((context_.c.flags & REDIS_CONNECTED) == 0) return;
  const auto watch = presence_.watch();
  if (write_posted_) write();
  if (!watch.expired() && context_.replies.head != nullptr) read();
}

void HiredisAdapter::ask_to_write() {
  // A socket becomes writable when it is connected. A request from within a write means that the
  // socket did not take all bytes.
  if (in_write_ || (context_.c.flags & REDIS_CONNECTED) == 0)
    wait_to_write();
  else
    post_write();
}

void HiredisAdapter::wait_to_read() {
  if (waiting_to_read_) return;
  waiting_to_read_ = true;
  descriptor_.async_wait(asio::posix::descriptor_base::wait_read,
                         read_handler_([this, watch = presence_.watch()](error_code) {
                           if (watch.expired()) return;
                           waiting_to_read_ = false;
                           read();
                         }));
}

void HiredisAdapter::wait_to_write() {
  if (waiting_to_write_) return;
  waiting_to_write_ = true;
  descriptor_.async_wait(asio::posix::descriptor_base::wait_write,
                         write_handler_([this, watch = presence_.watch()](error_code) {
                           if (watch.expired()) return;
                           waiting_to_write_ = false;
                           write();
                         }));
}

void HiredisAdapter::post_write() {
  if (write_posted_ || waiting_to_write_) return;
  write_posted_ = true;
  asio::post(io_, posted_write_([this, watch = presence_.watch()] {
               if (watch.expired()) return;
               write_posted_ = false;
               write();
             }));
}

void HiredisAdapter::read() {
  if (has_stray_bytes()) return owner_.on_stray_bytes();
  const auto watch = presence_.watch();
  redisAsyncHandleRead(&context_);
  if (watch.expired()) return;
  bounds_.on_read();
  if (bounds_.is_exceeded()) return redisAsyncFree(&context_);
  if (!waits_for_replies_) return;
  has_read_ = true;
  post_write();
}

void HiredisAdapter::write() {
  const auto watch = presence_.watch();
  const bool was_posted = std::exchange(write_posted_, true);  // what the owner adds is written now
  waits_for_replies_ = owner_.on_write(std::exchange(has_read_, false));
  write_posted_ = was_posted;
  in_write_ = true;
  redisAsyncHandleWrite(&context_);
  if (watch.expired()) return;
  in_write_ = false;
  if ((context_.c.flags & REDIS_CONNECTED) == 0) wait_to_write();
}

bool HiredisAdapter::has_stray_bytes() const {
  if (encrypted_ || context_.replies.head != nullptr) return false;
  char first = 0;
  // hiredis expects the end of the connection, and an error reply before it.
  return ::recv(context_.c.fd, &first, 1, MSG_PEEK | MSG_DONTWAIT) == 1 && first != '-';
}

std::string_view HiredisAdapter::reply_error() const {
  if (bounds_.is_exceeded()) return oversized_reply;
  return context_.err == REDIS_ERR_PROTOCOL ? context_.errstr : std::string_view();
}

void HiredisAdapter::clean_up() {
  presence_.end();
  descriptor_.release();
  std::string_view why = reply_error();
  if (why.empty() && context_.errstr != nullptr) why = context_.errstr;
  owner_.on_context_end(why);
}

bool has_stray_reply(const redisAsyncContext& context) {
  const redisReader& reader = *context.c.reader;
  return context.replies.head == nullptr && reader.pos < reader.len;
}

}  // namespace weir::redis
