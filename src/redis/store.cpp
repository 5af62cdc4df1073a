#include "redis/store.hpp"

#include <array>
#include <hiredis/hiredis.h>
#include <utility>

#include <boost/asio/post.hpp>

#include "loop/handler_memory.hpp"
#include "redis/connection.hpp"
#include "redis/error_reply.hpp"
#include "loop/handler_memory.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/loop_io.hpp"
#include "redis/pending_questions.hpp"
#include "redis/probe.hpp"
#include "redis/question_command.hpp"
#include "redis/script_loader.hpp"
#include "redis/script_set.hpp"
#include "redis/script_shas.hpp"
#include "store/looks.hpp"

namespace weir::redis {

class Store::Implementation final : public Connection::Owner {
 public:
  Implementation(asio::io_context& io, const Options& options, StoreSetup setup,
                 const MonotonicClock& clock, StoreCounters& counters)
      : io_(io),
        options_(options),
        policy_names_(std::move(setup.policy_names)),
        scripts_(setup.algorithm_sets, setup.script_clock),
        clock_(clock),
        counters_(counters),
        timer_(io.get_executor()),
        probe_(setup.algorithm_sets, no_policy),
        connection_(io, options_, scripts_.texts(), shas_, setup.seed, *this) {}

  void extend(std::vector<std::string> policy_names, const std::vector<AlgorithmSet>& sets);
  void start() { connection_.start(); }
  void stop() {
    connection_.stop();
    timer_.cancel();
  }
  bool is_ready() const { return connection_.is_ready() && !leaving_; }
  void acquire(store::Acquisition& acquisition, store::Completion& completion, Instant now) {
    ask(acquisition, acquisition.claims, completion, now);
  }
  void peek(store::Acquisition& acquisition, store::Completion& completion, Instant now) {
    const store::Looks looks = store::looks_of(acquisition.claims);
    ask(acquisition, {looks.data(), looks.size()}, completion, now);
  }
  void probe(store::Completion& completion, Instant now);
  bool has_decided() const { return has_decided_ || !probe_.can_ask(); }
  void forget(const store::Key& key, store::Completion& completion);
  void settle(std::span<const store::Settlement> settlements) {
    counters_.settlements_lost.add(settlements.size());
  }
  void reconnect();
  bool is_silent() const { return connection_.is_silent(); }
  std::string_view last_error() const {
    return connection_.is_ready() ? last_error_ : connection_.last_error();
  }
  std::string_view last_reply(store::Error error) const {
    return last_replies_[static_cast<std::size_t>(error)];
  }
  void watch(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  struct Pending final : PendingLink, Recipient {
    explicit Pending(Implementation& its_store) : store(its_store) {}
    void on_reply(const redisReply& reply) override { store.on_reply(*this, reply); }
    void on_loss(store::Error why) override { store.on_loss(*this, why); }

    Implementation& store;
    store::Completion* completion = nullptr;    ///< nullptr: completed, its reply is late
    store::Acquisition* acquisition = nullptr;  ///< nullptr: a key to forget
    std::size_t script = 0;
    bool repeated = false;  ///< as EVAL, because the server had lost the script
    bool is_due = false;    ///< its deadline has passed, and it is about to be completed
    bool is_lost = false;   ///< while due, its connection has ended: no reply will arrive
    store::Error error = store::Error::none;
    SteadyClock::time_point deadline;
    std::string command;
  };
  void on_ready() override;
  void on_failure() override;

  Pending& take(store::Completion& completion, store::Acquisition* acquisition);
  void ask(store::Acquisition& acquisition, std::span<const store::Claim> claims,
           store::Completion& completion, Instant now);
  void ask(Pending& pending, std::span<const store::Claim> claims, Instant now);
  template <class Ask>
  void give_back_if_thrown(Pending& pending, Ask&& ask);
  void send(Pending& pending, Duration waited /* of the timeout */);
  void on_reply(Pending& pending, const redisReply& reply);
  void on_error(Pending& pending, const redisReply& reply);
  void on_loss(Pending& pending, store::Error why);
  bool repeat(Pending& pending);
  void leave_replica(std::string_view why);
  store::Result read(Pending& pending, const redisReply& reply);
  void complete(Pending& pending, const store::Result& result);
  void fail(Pending& pending, store::Error error) { complete(pending, failure(error)); }
  static store::Result failure(store::Error error) {
    return {.error = error, .decider = store::Decider::redis};
  }
  void count(store::Error error);
  void fail_later(Pending& pending, store::Error error);
  void complete_failed();
  void complete_due(PendingLink& due);
  void arm(SteadyClock::time_point deadline);
  void on_deadline();
  KeySpace keys() const { return {.prefix = options_.key_prefix, .policy_names = policy_names_}; }

  asio::io_context& io_;
  const Options options_;
  // These grow when the configuration changes; an element keeps its index.
  std::vector<std::string> policy_names_;
  ScriptSet scripts_;
  ScriptShas shas_;
  const MonotonicClock& clock_;
  StoreCounters& counters_;
  std::function<void()> changed_;

  PendingQuestions<Pending> pending_;
  PendingLink failed_;  ///< to be completed in the next pass of the loop
  bool failing_posted_ = false;
  loop::HandlerMemory failing_handler_;
  Timer timer_;
  bool armed_ = false;
  bool leaving_ = false;      ///< the server is a replica; reconnects after the replies at hand
  std::string last_error_;    ///< of the last answer
  bool has_decided_ = false;  ///< the last result of this connection was a decision
  std::array<std::string, store::error_count> last_replies_;  ///< by kind of error
  ScriptLoader loader_{connection_, scripts_, shas_};
  Probe probe_;
  Presence presence_;
  Connection connection_;  ///< last: its destructor calls recipients
};

void Store::Implementation::extend(std::vector<std::string> policy_names,
                                   const std::vector<AlgorithmSet>& sets) {
  policy_names_ = std::move(policy_names);
  scripts_.add(sets);
  if (!probe_.can_ask()) probe_.use(scripts_.sets());
}

// ---- asking ----

Store::Implementation::Pending& Store::Implementation::take(store::Completion& completion,
                                                            store::Acquisition* acquisition) {
  Pending& pending = pending_.take(*this);
  pending.completion = &completion;
  pending.acquisition = acquisition;
  pending.repeated = pending.is_due = pending.is_lost = false;
  pending.command.clear();
  return pending;
}

/// Nothing throws once the command has been sent: a call that throws has sent nothing and is not
/// completed.
template <class Ask>
void Store::Implementation::give_back_if_thrown(Pending& pending, Ask&& ask) {
  try {
    ask();
  } catch (...) {
    pending_.give_back(pending);
    throw;
  }
}

/// `claims`: those of the acquisition, or looks at them. Valid during the call only.
void Store::Implementation::ask(store::Acquisition& acquisition,
                                std::span<const store::Claim> claims, store::Completion& completion,
                                Instant now) {
  Pending& pending = take(completion, &acquisition);
  give_back_if_thrown(pending, [&] { ask(pending, claims, now); });
}

void Store::Implementation::ask(Pending& pending, std::span<const store::Claim> claims,
                                Instant now) {
  store::Acquisition& acquisition = *pending.acquisition;
  if (!is_ready()) return fail_later(pending, store::Error::not_connected);
  const auto script = scripts_.find(algorithms_of(claims));
  if (!script) return fail_later(pending, store::Error::other);
  pending.script = *script;
  for (std::size_t i = 0; i < claims.size(); ++i)
    acquisition.decisions[i].limit = claims[i].policy->capacity;
  const std::string_view sha = shas_.sha(pending.script);
  // The script goes with this command as text. Later ones use its SHA.
  if (sha.empty()) loader_.load(pending.script);
  const ScriptName name = sha.empty()
                              ? ScriptName{ScriptName::By::text, scripts_.texts()[pending.script]}
                              : ScriptName{ScriptName::By::sha, sha};
  const auto script_time =
      scripts_.clock() == Clock::argument ? std::optional(now) : std::optional<Instant>{};
  append_question(pending.command, name, keys(), claims, script_time);
  send(pending, now - acquisition.arrived_at);
}

void Store::Implementation::probe(store::Completion& completion, Instant now) {
  acquire(probe_.acquisition(now), completion, now);
}

void Store::Implementation::forget(const store::Key& key, store::Completion& completion) {
  Pending& pending = take(completion, nullptr);
  give_back_if_thrown(pending, [&] {
    if (!is_ready()) return fail_later(pending, store::Error::not_connected);
    append_forget(pending.command, keys(), key.identity, key.policy_id);
    send(pending, Duration{0});
  });
}

void Store::Implementation::send(Pending& pending, Duration waited) {
  pending.deadline = SteadyClock::now() + (options_.timeout - waited);
  // May throw, so it comes before the question is sent.
  if (!armed_ || pending.deadline < timer_.expiry()) arm(pending.deadline);
  if (!connection_.send(pending.command, pending))
    return fail_later(pending, store::Error::not_connected);
  counters_.questions.add();
  pending_.push(pending);
}

// ---- answers ----

void Store::Implementation::on_reply(Pending& pending, const redisReply& reply) {
  if (pending.completion == nullptr) {
    counters_.late_answers.add();
    return pending_.give_back(pending);
  }
  if (reply.type == REDIS_REPLY_ERROR) return on_error(pending, reply);
  if (!last_error_.empty()) last_error_.clear();
  complete(pending, read(pending, reply));
}

store::Result Store::Implementation::read(Pending& pending, const redisReply& reply) {
  if (pending.acquisition == nullptr)
    return failure(reply.type == REDIS_REPLY_INTEGER ? store::Error::none : store::Error::other);
  const std::size_t claims = pending.acquisition->claims.size();
  store::Result result{.decider = store::Decider::redis};
  has_decided_ = read_answer(reply, pending.acquisition->decisions.first(claims), result.admitted);
  if (!has_decided_) return failure(store::Error::other);
  result.decided = store::first_claims(claims);
  return result;
}

void Store::Implementation::on_error(Pending& pending, const redisReply& reply) {
  const auto text = text_of(reply);
  const auto error = error_of(text);
  if (error == store::Error::script_missing && repeat(pending)) return;
  last_error_ = printable(text);
  last_replies_[static_cast<std::size_t>(error)] = last_error_;
  if (error == store::Error::read_only) leave_replica(text);
  fail(pending, error);
}

/// Sends a question again after NOSCRIPT, the only error that proves that nothing ran. It keeps its
/// place and its deadline.
bool Store::Implementation::repeat(Pending& pending) {
  if (pending.repeated || pending.acquisition == nullptr) return false;
  pending.repeated = true;
  loader_.load(pending.script);
  return connection_.send(as_eval(pending.command, scripts_.texts()[pending.script]), pending);
}

/// After a failover the name resolves to the new primary. Replies that have arrived are completed
/// first.
void Store::Implementation::leave_replica(std::string_view why) {
  if (std::exchange(leaving_, true)) return;
  asio::post(io_, [this, watch = presence_.watch(), text = printable(why)]() mutable {
    if (!watch.expired() && leaving_) connection_.abandon(text);
  });
}

// ---- failures ----

void Store::Implementation::on_loss(Pending& pending, store::Error why) {
  if (pending.completion == nullptr) return pending_.give_back(pending);
  if (pending.is_due) return void(pending.is_lost = true);
  pending.unlink();
  fail_later(pending, why);
}

void Store::Implementation::fail_later(Pending& pending, store::Error error) {
  pending.error = error;
  pending.link_before(failed_);
  if (std::exchange(failing_posted_, true)) return;
  asio::post(io_, failing_handler_([this, watch = presence_.watch()] {
               if (!watch.expired()) complete_failed();
             }));
}

void Store::Implementation::complete_failed() {
  failing_posted_ = false;
  // Questions that fail while these are completed are left for the next pass.
  PendingLink now;
  now.link_before(failed_);
  failed_.unlink();
  while (now.is_linked()) {
    auto& pending = static_cast<Pending&>(*now.next);
    fail(pending, pending.error);
  }
}

void Store::Implementation::arm(SteadyClock::time_point deadline) {
  armed_ = false;  // and stays so if the wait cannot be added
  timer_.expires_at(deadline);
  timer_.async_wait([this, watch = presence_.watch()](error_code ec) {
    // Cancelled: the timer was armed for an earlier deadline, or stopped.
    if (watch.expired() || ec) return;
    on_deadline();
  });
  armed_ = true;
}

/// An answer does not cancel the timer. It expires at the earliest deadline or before, and is armed
/// again for the earliest that is left.
void Store::Implementation::on_deadline() {
  armed_ = true;  // calls meanwhile do not arm it; the end of this function does
  const auto now = SteadyClock::now();
  const auto is_due = [now](const Pending* one) { return one != nullptr && one->deadline <= now; };
  Pending* first = pending_.first();
  // A busy loop may have answers that have arrived and were not read yet.
  const auto watch = presence_.watch();
  for (const Pending* before = nullptr; is_due(first) && first != before;) {
    before = first;
    connection_.read_arrived();
    if (watch.expired()) return;
    first = pending_.first();
  }
  // Collected first, because a completion may close the connection.
  PendingLink due;
  for (; is_due(first); first = pending_.first()) {
    first->unlink();
    first->link_before(due);
    first->is_due = true;
  }
  complete_due(due);
  armed_ = false;
  first = pending_.first();
  if (first != nullptr) arm(first->deadline);
}

void Store::Implementation::complete_due(PendingLink& due) {
  while (due.is_linked()) {
    auto& pending = static_cast<Pending&>(*due.next);
    pending.unlink();
    store::Completion& completion = *std::exchange(pending.completion, nullptr);
    if (pending.is_lost) pending_.give_back(pending);
    count(store::Error::timeout);
    completion.complete(failure(store::Error::timeout), clock_.now());
  }
}

// ---- completing ----

void Store::Implementation::complete(Pending& pending, const store::Result& result) {
  store::Completion& completion = *std::exchange(pending.completion, nullptr);
  pending_.give_back(pending);
  if (result.error != store::Error::none) count(result.error);
  completion.complete(result, clock_.now());
}

void Store::Implementation::count(store::Error error) {
  has_decided_ = false;
  counters_.errors[static_cast<std::size_t>(error)].add();
}

void Store::Implementation::on_ready() {
  leaving_ = has_decided_ = false;
  last_error_.clear();
  counters_.connects.add();
  if (changed_) changed_();
}

void Store::Implementation::on_failure() {
  if (changed_) changed_();
}

void Store::Implementation::reconnect() {
  connection_.abandon("no answer within " + std::to_string(to_us(options_.timeout)) + " us");
}

Store::Store(boost::asio::io_context& io, const Options& options, StoreSetup setup,
             const MonotonicClock& clock, StoreCounters& counters)
    : implementation_(
          std::make_unique<Implementation>(io, options, std::move(setup), clock, counters)) {}
Store::~Store() = default;

void Store::extend(std::vector<std::string> policy_names,
                   const std::vector<std::uint8_t>& algorithm_sets) {
  implementation_->extend(std::move(policy_names), algorithm_sets);
}
void Store::start() {
  implementation_->start();
}
void Store::stop() {
  implementation_->stop();
}
std::optional<store::Result> Store::acquire(store::Acquisition& acquisition,
                                            store::Completion& completion, Instant now) {
  implementation_->acquire(acquisition, completion, now);
  return std::nullopt;
}
std::optional<store::Result> Store::peek(store::Acquisition& acquisition,
                                         store::Completion& completion, Instant now) {
  implementation_->peek(acquisition, completion, now);
  return std::nullopt;
}
std::optional<store::Result> Store::forget(const store::Key& key, store::Completion& completion,
                                           Instant) {
  implementation_->forget(key, completion);
  return std::nullopt;
}
void Store::settle(std::span<const store::Settlement> settlements, Instant) {
  implementation_->settle(settlements);
}
bool Store::is_ready() const {
  return implementation_->is_ready();
}
bool Store::has_decided() const {
  return implementation_->has_decided();
}
bool Store::is_silent() const {
  return implementation_->is_silent();
}
void Store::reconnect() {
  implementation_->reconnect();
}
std::optional<store::Result> Store::probe(store::Completion& completion, Instant now) {
  implementation_->probe(completion, now);
  return std::nullopt;
}
std::string_view Store::last_error() const {
  return implementation_->last_error();
}
std::string_view Store::last_reply(store::Error error) const {
  return implementation_->last_reply(error);
}
void Store::watch(std::function<void()> changed) {
  implementation_->watch(std::move(changed));
}

}  // namespace weir::redis
