#include "redis/sentinels.hpp"

#include <array>
#include <hiredis/hiredis.h>
#include <netinet/tcp.h>
#include <new>
#include <sys/socket.h>
#include <utility>

#include <boost/asio/post.hpp>

#include "loop/dialer.hpp"
#include "redis/error_reply.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/reply_bounds.hpp"

namespace weir::redis {
namespace {

constexpr auto pause_between_sentinels = std::chrono::seconds(1);

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

struct FreeReader {
  void operator()(redisReader* reader) const { redisReaderFree(reader); }
};
using Reader = std::unique_ptr<redisReader, FreeReader>;

Reader make_reader() {
  Reader reader(redisReaderCreate());
  if (!reader) throw std::bad_alloc();
  return reader;
}

/// Detects within about 20 s that the other side has vanished.
void keep_alive(int socket) {
  const int on = 1, idle_s = 10, interval_s = 3, probes = 3;
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

std::shared_ptr<const MasterLayout> masters_of(const std::string& name,
                                               const options::RedisServer& server) {
  constexpr HashSlot last = hash_slots - 1;
  return std::make_shared<const MasterLayout>(
      MasterLayout{.name = name, .ranges = {{.first = 0, .last = last, .master = server}}});
}

bool is_message(const redisReply& reply) {
  return reply.type == REDIS_REPLY_ARRAY && reply.elements == 3 &&
         text_of(*reply.element[0]) == "message";
}

}  // namespace

/// A connection to one sentinel.
struct Sentinels::Conversation {
  /// `current` is this one until it ends or another one begins.
  Conversation(asio::io_context& io, Conversation*& current) : dialer(io), current_(current) {
    current = this;
  }
  ~Conversation() {
    if (current_ == this) current_ = nullptr;
  }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// Reads the next reply into `reply`. Returns the problem, or nothing.
  loop::Task<std::string> read() {
    reply.reset();
    error_code ec;
    for (;;) {
      void* parsed = nullptr;
      const bool is_valid = redisReaderGetReply(reader.get(), &parsed) == REDIS_OK;
      reply.reset(static_cast<redisReply*>(parsed));
      bounds.on_read();
      if (!is_valid || bounds.is_exceeded()) co_return "the reply is not one of a sentinel";
      if (reply) co_return std::string();
      const std::size_t n = co_await dialer.stream().read(asio::buffer(piece_), ec);
      if (ec || dialer.is_over()) co_return dialer.failure("the connection failed", ec);
      redisReaderFeed(reader.get(), piece_.data(), n);
    }
  }

  loop::Dialer dialer;
  Reader reader = make_reader();
  ReplyBounds bounds{*reader};
  Reply reply;

 private:
  Conversation*& current_;
  std::array<char, 4096> piece_;
};

Sentinels::Sentinels(asio::io_context& io, const options::Redis& options,
                     std::function<void(const options::RedisServer&)> moved)
    : io_(io),
      options_(options),
      moved_(std::move(moved)),
      search_(options_),
      pause_(io.get_executor()) {}

std::shared_ptr<Sentinels> Sentinels::make(asio::io_context& io, const options::Redis& options,
                                           std::function<void(const options::RedisServer&)> moved) {
  return std::shared_ptr<Sentinels>(new Sentinels(io, options, std::move(moved)));
}

void Sentinels::start() {
  if (!std::exchange(is_stopped_, false)) return;
  loop::spawn(io_, listen(shared_from_this()));
}

void Sentinels::stop() noexcept {
  is_stopped_ = true;
  cancel();
  pause_.cancel();
  if (listening_ != nullptr) listening_->dialer.give_up();
}

// ---- the search ----

void Sentinels::locate(Time deadline, Done done) {
  cancel();
  done_ = std::move(done);
  asio::post(io_, [self = shared_from_this(), number = ++searches_, deadline] {
    if (number != self->searches_) return;
    loop::spawn(self->io_, search(self, number, deadline));
  });
}

void Sentinels::cancel() noexcept {
  done_ = nullptr;
  lookup_.reset();
  ++searches_;
  if (asking_ != nullptr) asking_->dialer.give_up();
}

loop::Task<> Sentinels::search(std::shared_ptr<Sentinels> self, std::uint64_t number,
                               Time deadline) {
  try {
    co_await self->ask_all(number, deadline);
  } catch (const std::bad_alloc&) {
    if (number == self->searches_) self->finish(Problem{"out of memory"});
  }
}

loop::Task<> Sentinels::ask_all(std::uint64_t number, Time deadline) {
  search_.begin(deadline);
  while (const auto turn = search_.next(std::chrono::steady_clock::now())) {
    Conversation conversation(io_, asking_);
    const std::string problem =
        co_await ask(conversation, options_.servers[turn->index], turn->until);
    if (number != searches_) co_return;
    if (!problem.empty()) {
      search_.on_unreachable(problem);
      continue;
    }
    MasterReply reply = master_in(*conversation.reply);
    if (search_.on_reply(reply, std::chrono::steady_clock::now()))
      co_return look_up(std::move(reply.master));
  }
  finish(Problem{search_.failure()});
}

/// Sentinels return a name if they are configured to resolve host names.
void Sentinels::look_up(options::RedisServer master) {
  error_code is_name;
  const auto literal = asio::ip::make_address(master.host, is_name);
  if (!is_name) {
    const asio::ip::tcp::endpoint address(literal, master.port);
    return finish(Located{.server = std::move(master), .addresses = {address}});
  }
  const std::uint16_t port = master.port;
  lookup_.emplace(io_, master.host, port, [this, master](Result<loop::Addresses> found) {
    try {
      if (!found) return finish(Problem{master.host + ": " + found.error().message});
      finish(Located{.server = master, .addresses = *std::move(found)});
    } catch (const std::bad_alloc&) {
      finish(Problem{});
    }
  });
}

void Sentinels::finish(Result<Located> result) {
  const Time now = std::chrono::steady_clock::now();
  if (result && search_.is_replaced(result->server, now))
    result = Problem{"the master has just been replaced"};
  if (result && located_ != result->server) {
    located_masters_ = masters_of(options_.sentinel_master, result->server);
    located_ = result->server;
  }
  if (const Done done = std::exchange(done_, nullptr)) done(std::move(result));
}

void Sentinels::on_ready() noexcept {
  search_.on_ready();
  masters_ = located_masters_;
}

// ---- one sentinel ----

std::string Sentinels::commands() const {
  using Words = std::string_view;
  std::string out;
  const std::string_view password = options_.sentinel_password.reveal();
  if (!password.empty())
    out += options_.sentinel_user.empty()
               ? command_of(std::array<Words, 2>{"AUTH", password})
               : command_of(std::array<Words, 3>{"AUTH", options_.sentinel_user, password});
  out += command_of(
      std::array<Words, 3>{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", options_.sentinel_master});
  return out;
}

/// Returns why the sentinel could not be asked; or nothing, and the reply is that of the question,
/// or an error.
loop::Task<std::string> Sentinels::ask(Conversation& with, const options::RedisServer& sentinel,
                                       Time until) {
  loop::Dialer& dialer = with.dialer;
  dialer.set_deadline(until);
  loop::Dialer::Server server{.host = sentinel.host, .port = sentinel.port};
  if (options_.secure) {
    auto context = tls::ClientContext::load(options_.tls);
    if (!context) co_return context.error().message;
    server.tls = *std::move(context);
  }
  std::string problem = co_await dialer.connect(std::move(server));
  if (!problem.empty()) co_return problem;
  dialer.set_phase("waiting for the reply");
  const std::string text = commands();
  if (const error_code ec = co_await dialer.stream().write(text))
    co_return dialer.failure("cannot send", ec);
  problem = co_await with.read();
  const bool is_refused = problem.empty() && with.reply->type == REDIS_REPLY_ERROR;
  if (options_.sentinel_password.empty() || !problem.empty() || is_refused) co_return problem;
  co_return co_await with.read();
}

// ---- changes ----

loop::Task<> Sentinels::listen(std::shared_ptr<Sentinels> self) {
  error_code ec;
  for (std::size_t at = 0; !self->is_stopped_; at = (at + 1) % self->options_.servers.size()) {
    try {
      co_await self->listen_to(self->options_.servers[at]);
    } catch (const std::bad_alloc&) {
      // The next attempt may have memory.
    }
    if (self->is_stopped_) co_return;
    self->pause_.expires_after(pause_between_sentinels);
    co_await self->pause_.async_wait(loop::into(ec));
  }
}

/// Returns when the sentinel cannot be asked, or its connection has ended.
loop::Task<> Sentinels::listen_to(const options::RedisServer& sentinel) {
  Conversation conversation(io_, listening_);
  const Time until = std::chrono::steady_clock::now() + options_.connect_timeout;
  const std::string problem = co_await ask(conversation, sentinel, until);
  if (!problem.empty() || is_stopped_) co_return;
  const MasterReply reply = master_in(*conversation.reply);
  const bool is_other =
      reply.kind == MasterReply::Kind::address && located_ && reply.master != *located_;
  if (is_other) moved_(reply.master);  // the search finds out which of the two it is
  co_await subscribe(conversation);
}

/// Returns when the connection has ended.
loop::Task<> Sentinels::subscribe(Conversation& with) {
  static const std::string command =
      command_of(std::array<std::string_view, 2>{"SUBSCRIBE", "+switch-master"});
  with.dialer.clear_deadline();
  keep_alive(with.dialer.stream().socket().native());
  if (co_await with.dialer.stream().write(command)) co_return;
  while ((co_await with.read()).empty() && !is_stopped_) {
    if (is_message(*with.reply))
      on_switch(switched_master(text_of(*with.reply->element[2]), options_.sentinel_master));
  }
}

void Sentinels::on_switch(const std::optional<options::RedisServer>& master) {
  if (!master || !located_ || *master == *located_) return;
  search_.on_replaced(*located_, std::chrono::steady_clock::now());
  moved_(*master);
}

}  // namespace weir::redis
