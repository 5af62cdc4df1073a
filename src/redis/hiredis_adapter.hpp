// Joins one asynchronous hiredis context to the loop.
//
// hiredis owns the file descriptor; the adapter waits on it. Commands are written together: at the
// end of a pass of the loop, or after a few dozen operations of the poller. Replies are read as
// often, so neither waits until all clients that are ready have been served. Lives from the connect
// until hiredis frees the context. Used on the loop only. hiredis writes with write(2): the process
// must ignore SIGPIPE.
#pragma once

#include <string_view>

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include "loop/handler_memory.hpp"
#include "loop/io.hpp"
#include "loop/poller.hpp"
#include "redis/reply_bounds.hpp"

struct redisAsyncContext;

namespace weir::redis {

class HiredisAdapter final : private loop::Interleaved {
 public:
  class Owner {
   public:
    /// Commands are about to be written: more of them may be added. True: some wait, and this is
    /// called again when replies have been read, with `after_replies`.
    virtual bool on_write(bool /*after_replies*/) noexcept { return false; }
    /// The context is being freed, after the callbacks of all its commands were called. The adapter
    /// may be destroyed in it.
    virtual void on_context_end(std::string_view why) noexcept = 0;
    /// The server sent bytes that answer no command. hiredis must not read them: it aborts the
    /// process. The owner frees the context.
    virtual void on_stray_bytes() noexcept = 0;

   protected:
    ~Owner() = default;
  };

  /// `encrypted`: stray bytes cannot be detected on the socket.
  HiredisAdapter(asio::io_context& io, redisAsyncContext& context, bool encrypted, Owner& owner);
  HiredisAdapter(const HiredisAdapter&) = delete;
  HiredisAdapter& operator=(const HiredisAdapter&) = delete;

  /// Calls Owner::on_write() when a command that was added now would be written.
  void write_later() { post_write(); }
  /// Reads what has arrived, before the loop reports it.
  void read_arrived() { read(); }
  /// Why a reply cannot be used, if the context ends because it could not be parsed or was too
  /// large; empty otherwise. Valid while the context exists.
  std::string_view reply_error() const;

 private:
  void serve() noexcept override;
  void ask_to_write();
  void wait_to_read();
  void wait_to_write();
  void post_write();
  void read();
  void write();
  bool has_stray_bytes() const;
  void clean_up();

  asio::io_context& io_;
  redisAsyncContext& context_;
  Owner& owner_;
  bool encrypted_;
  ReplyBounds bounds_;
  asio::posix::basic_stream_descriptor<loop::Executor> descriptor_;
  bool waiting_to_read_ = false;
  bool waiting_to_write_ = false;
  bool write_posted_ = false;
  bool waits_for_replies_ = false;  ///< the owner, to write more
  bool has_read_ = false;           ///< since it waits
  // An exception must not pass through hiredis, which calls what adds these handlers.
  loop::HandlerMemory read_handler_;
  loop::HandlerMemory write_handler_;
  loop::HandlerMemory posted_write_;
  bool in_write_ = false;
  loop::Presence presence_;
};

/// Whether more replies arrived than commands were sent, in the callback of the last one. As
/// on_stray_bytes().
bool has_stray_reply(const redisAsyncContext& context);

}  // namespace weir::redis
