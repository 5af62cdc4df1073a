#include "redis/hiredis_adapter.hpp"

#include <hiredis/async.h>
#include <sys/socket.h>

#include <boost/asio/post.hpp>

#include "loop/poller.hpp"
#include "redis/reply_bounds.hpp"

namespace weir::redis {

HiredisAdapter::HiredisAdapter(asio::io_context& io, redisAsyncContext& context, bool encrypted,
                               Owner& owner)
    : io_(io),
      context_(context),
      owner_(owner),
      encrypted_(encrypted),
      descriptor_(io.get_executor(), context.c.fd) {
  asio::use_service<loop::Poller>(io).interleave(*this);
  bound_elements(*context.c.reader);
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
  if ((context_.c.flags & REDIS_CONNECTED) == 0 || context_.replies.head == nullptr) return;
  const auto watch = presence_.watch();
  if (write_posted_) write();
  if (!watch.expired()) read();
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
  if (!watch.expired() && is_too_large(*context_.c.reader)) owner_.on_stray_bytes();
}

void HiredisAdapter::write() {
  const auto watch = presence_.watch();
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

void HiredisAdapter::clean_up() {
  presence_.end();
  descriptor_.release();
  owner_.on_context_end(context_.errstr != nullptr ? context_.errstr : "");
}

bool has_stray_reply(const redisAsyncContext& context) {
  const redisReader& reader = *context.c.reader;
  return context.replies.head == nullptr && reader.pos < reader.len;
}

}  // namespace weir::redis
