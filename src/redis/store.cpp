#include "redis/store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <hiredis/hiredis.h>
#include <utility>

#include <boost/asio/post.hpp>

#include "redis/connection.hpp"
#include "redis/error_reply.hpp"
#include "redis/handshake.hpp"
#include "redis/loop_io.hpp"
#include "redis/pending_questions.hpp"
#include "redis/probe.hpp"
#include "redis/question_command.hpp"
#include "redis/script.hpp"

namespace weir::redis {
namespace {

constexpr std::uint8_t no_script = 255;

std::vector<std::string> scripts_of(const std::vector<AlgorithmSet>& sets) {
  std::vector<std::string> scripts;
  scripts.reserve(sets.size());
  for (const auto set : sets)
    scripts.push_back(script_for(set));
  return scripts;
}

/// By set of algorithms, the script made for it, else the smallest one that has all of them.
std::array<std::uint8_t, 256> choose_scripts(const std::vector<AlgorithmSet>& sets) {
  std::array<std::uint8_t, 256> choice{};
  choice.fill(no_script);
  for (std::size_t set = 1; set < choice.size(); ++set) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const bool is_smaller =
          choice[set] == no_script || std::popcount(sets[i]) < std::popcount(sets[choice[set]]);
      if ((sets[i] & set) == set && is_smaller) choice[set] = static_cast<std::uint8_t>(i);
    }
  }
  return choice;
}

/// The last name is of the probe's key, and of no policy.
std::vector<std::string> with_nobody(std::vector<std::string> policy_names) {
  policy_names.emplace_back();
  return policy_names;
}

}  // namespace

class Store::Implementation final : public Connection::Owner {
 public:
  Implementation(asio::io_context& io, const Options& options,
                 std::vector<std::string> policy_names, const std::vector<AlgorithmSet>& sets,
                 StoreCounters& counters, std::uint64_t seed)
      : io_(io),
        options_(options),
        policy_names_(with_nobody(std::move(policy_names))),
        scripts_(scripts_of(sets)),
        script_choice_(choose_scripts(sets)),
        counters_(counters),
        timer_(io.get_executor()),
        repairs_(scripts_.size()),
        probe_(sets, static_cast<std::uint32_t>(policy_names_.size() - 1)),
        connection_(io, options_, scripts_, seed, *this) {}

  void start() { connection_.start(); }
  void stop() {
    connection_.stop();
    timer_.cancel();
  }
  bool is_ready() const { return connection_.is_ready() && !leaving_; }
  void ask(Question& question);
  void probe(Receiver& receiver);
  bool has_decided() const { return has_decided_ || probe_.question() == nullptr; }
  void forget(const Hash128& identity, std::uint32_t policy_id, Receiver& receiver);
  void reconnect();
  bool is_silent() const { return connection_.is_silent(); }
  std::string_view trouble() const {
    return connection_.is_ready() ? last_error_ : connection_.trouble();
  }
  std::string_view said(StoreError error) const { return said_[static_cast<std::size_t>(error)]; }
  void watch(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  struct Pending final : PendingLink, Recipient {
    explicit Pending(Implementation& its_store) : store(its_store) {}
    void on_reply(const redisReply& reply) override { store.on_reply(*this, reply); }
    void on_loss(StoreError why) override { store.on_loss(*this, why); }

    Implementation& store;
    Receiver* receiver = nullptr;  ///< nullptr: told already, its reply is late
    Question* question = nullptr;  ///< nullptr: a key to forget
    std::uint8_t script = 0;
    bool repeated = false;  ///< as EVAL, because the server had lost the script
    StoreError error = StoreError::none;
    SteadyClock::time_point deadline;
    std::string command;
  };
  /// A script is loaded again beside the questions that found it missing.
  struct Repair final : Recipient {
    void on_reply(const redisReply&) override { under_way = false; }
    void on_loss(StoreError) override { under_way = false; }
    bool under_way = false;
  };

  void on_ready() override;
  void on_failure() override;

  Pending& take(Receiver& receiver, Question* question);
  void send(Pending& pending);
  void on_reply(Pending& pending, const redisReply& reply);
  void on_error(Pending& pending, const redisReply& reply);
  void on_loss(Pending& pending, StoreError why);
  bool repeat(Pending& pending);
  void leave_replica(std::string_view why);
  StoreError read(Pending& pending, const redisReply& reply);
  void tell(Pending& pending, StoreError error);
  void count(StoreError error);
  void tell_later(Pending& pending, StoreError error);
  void tell_failed();
  void arm(SteadyClock::time_point deadline);
  void on_deadline();
  KeySpace keys() const { return {.prefix = options_.key_prefix, .policy_names = policy_names_}; }

  asio::io_context& io_;
  const Options options_;
  const std::vector<std::string> policy_names_;
  const std::vector<std::string> scripts_;
  const std::array<std::uint8_t, 256> script_choice_;
  StoreCounters& counters_;
  std::function<void()> changed_;

  PendingQuestions<Pending> pending_;
  PendingLink failed_;  ///< to be told in a moment
  bool telling_posted_ = false;
  Timer timer_;
  bool armed_ = false;
  bool leaving_ = false;      ///< a replica, when the replies at hand are read
  std::string last_error_;    ///< of the last answer
  bool has_decided_ = false;  ///< the last word of this connection was a decision
  std::array<std::string, store_error_count> said_;  ///< the last text of each kind
  std::vector<Repair> repairs_;
  Probe probe_;
  Presence presence_;
  Connection connection_;  ///< last: tells the others of its end
};

// ---- asking ----

Store::Implementation::Pending& Store::Implementation::take(Receiver& receiver,
                                                            Question* question) {
  Pending& pending = pending_.take(*this);
  pending.receiver = &receiver;
  pending.question = question;
  pending.repeated = false;
  pending.command.clear();
  return pending;
}

void Store::Implementation::ask(Question& question) {
  Pending& pending = take(*question.receiver, &question);
  if (!is_ready()) return tell_later(pending, StoreError::not_connected);
  pending.script = script_choice_[algorithms_of(question.claims)];
  if (pending.script == no_script) return tell_later(pending, StoreError::other);
  for (std::size_t i = 0; i < question.claims.size(); ++i)
    question.decisions[i].limit = question.claims[i].policy->capacity;
  const ScriptName name{.by = ScriptName::By::sha, .value = connection_.sha(pending.script)};
  append_question(pending.command, name, keys(), question.claims);
  send(pending);
}

void Store::Implementation::probe(Receiver& receiver) {
  Question& question = *probe_.question();
  question.receiver = &receiver;
  ask(question);
}

void Store::Implementation::forget(const Hash128& identity, std::uint32_t policy_id,
                                   Receiver& receiver) {
  Pending& pending = take(receiver, nullptr);
  if (!is_ready()) return tell_later(pending, StoreError::not_connected);
  append_forget(pending.command, keys(), identity, policy_id);
  send(pending);
}

void Store::Implementation::send(Pending& pending) {
  if (!connection_.send(pending.command, pending))
    return tell_later(pending, StoreError::not_connected);
  counters_.questions.add();
  const Duration waited = pending.question == nullptr ? Duration{0} : pending.question->waited;
  pending.deadline = SteadyClock::now() + (options_.timeout - waited);
  pending_.push(pending);
  if (!armed_ || pending.deadline < timer_.expiry()) arm(pending.deadline);
}

// ---- answers ----

void Store::Implementation::on_reply(Pending& pending, const redisReply& reply) {
  if (pending.receiver == nullptr) {
    counters_.late_answers.add();
    return pending_.give_back(pending);
  }
  if (reply.type == REDIS_REPLY_ERROR) return on_error(pending, reply);
  if (!last_error_.empty()) last_error_.clear();
  tell(pending, read(pending, reply));
}

StoreError Store::Implementation::read(Pending& pending, const redisReply& reply) {
  if (pending.question == nullptr)
    return reply.type == REDIS_REPLY_INTEGER ? StoreError::none : StoreError::other;
  Question& question = *pending.question;
  has_decided_ = read_answer(reply, question.decisions, question.admitted);
  return has_decided_ ? StoreError::none : StoreError::other;
}

void Store::Implementation::on_error(Pending& pending, const redisReply& reply) {
  const auto text = text_of(reply);
  const auto error = error_of(text);
  if (error == StoreError::script_missing && repeat(pending)) return;
  last_error_ = printable(text);
  said_[static_cast<std::size_t>(error)] = last_error_;
  if (error == StoreError::read_only) leave_replica(text);
  tell(pending, error);
}

/// The only error after which a question is asked again: nothing ran. It keeps its place and its
/// deadline.
bool Store::Implementation::repeat(Pending& pending) {
  if (pending.repeated || pending.question == nullptr) return false;
  pending.repeated = true;
  const std::string& script = scripts_[pending.script];
  Repair& repair = repairs_[pending.script];
  if (!repair.under_way) repair.under_way = connection_.send(load_command(script), repair);
  return connection_.send(as_eval(pending.command, script), pending);
}

/// After a failover the name leads to the new primary. Replies that are at hand already are told
/// first, as what they are.
void Store::Implementation::leave_replica(std::string_view why) {
  if (std::exchange(leaving_, true)) return;
  asio::post(io_, [this, watch = presence_.watch(), text = printable(why)]() mutable {
    if (!watch.expired() && leaving_) connection_.abandon(text);
  });
}

// ---- failures ----

void Store::Implementation::on_loss(Pending& pending, StoreError why) {
  if (pending.receiver == nullptr) return pending_.give_back(pending);
  pending.unlink();
  tell_later(pending, why);
}

void Store::Implementation::tell_later(Pending& pending, StoreError error) {
  pending.error = error;
  pending.link_before(failed_);
  if (std::exchange(telling_posted_, true)) return;
  asio::post(io_, [this, watch = presence_.watch()] {
    if (!watch.expired()) tell_failed();
  });
}

void Store::Implementation::tell_failed() {
  telling_posted_ = false;
  // Those that fail while these are told come in the next pass.
  PendingLink now;
  now.link_before(failed_);
  failed_.unlink();
  while (now.is_linked()) {
    auto& pending = static_cast<Pending&>(*now.next);
    tell(pending, pending.error);
  }
}

void Store::Implementation::arm(SteadyClock::time_point deadline) {
  armed_ = true;
  timer_.expires_at(deadline);
  timer_.async_wait([this, watch = presence_.watch()](error_code ec) {
    // Taken back: it was armed for an earlier deadline, or stopped.
    if (watch.expired() || ec) return;
    on_deadline();
  });
}

/// The timer is not taken back when an answer comes: it wakes at the earliest deadline or before,
/// and finds out which is the earliest now.
void Store::Implementation::on_deadline() {
  armed_ = true;  // for whoever asks meanwhile: the earliest is looked for when all are told
  const auto now = SteadyClock::now();
  const auto is_due = [now](const Pending* one) { return one != nullptr && one->deadline <= now; };
  Pending* first = pending_.first();
  // A loop with much else to do may find answers that have come and were not read yet.
  const auto watch = presence_.watch();
  for (const Pending* before = nullptr; is_due(first) && first != before;) {
    before = first;
    connection_.read_arrived();
    if (watch.expired()) return;
    first = pending_.first();
  }
  while (is_due(first)) {
    first->unlink();
    Receiver& receiver = *std::exchange(first->receiver, nullptr);
    count(StoreError::timeout);
    receiver.on_answer(StoreError::timeout);
    first = pending_.first();
  }
  armed_ = false;
  if (first != nullptr) arm(first->deadline);
}

// ---- telling ----

void Store::Implementation::tell(Pending& pending, StoreError error) {
  Receiver& receiver = *std::exchange(pending.receiver, nullptr);
  pending_.give_back(pending);
  if (error != StoreError::none) count(error);
  receiver.on_answer(error);
}

void Store::Implementation::count(StoreError error) {
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

// ---- the seam ----

Store::Store(asio::io_context& io, const Options& options, std::vector<std::string> policy_names,
             const std::vector<std::uint8_t>& algorithm_sets, StoreCounters& counters,
             std::uint64_t seed)
    : implementation_(std::make_unique<Implementation>(io, options, std::move(policy_names),
                                                       algorithm_sets, counters, seed)) {}
Store::~Store() = default;

void Store::start() {
  implementation_->start();
}
void Store::stop() {
  implementation_->stop();
}
bool Store::is_ready() const {
  return implementation_->is_ready();
}
void Store::ask(Question& question) {
  implementation_->ask(question);
}
void Store::probe(Receiver& receiver) {
  implementation_->probe(receiver);
}
bool Store::has_decided() const {
  return implementation_->has_decided();
}
void Store::forget(const Hash128& identity, std::uint32_t policy_id, Receiver& receiver) {
  implementation_->forget(identity, policy_id, receiver);
}
bool Store::is_silent() const {
  return implementation_->is_silent();
}
void Store::reconnect() {
  implementation_->reconnect();
}
std::string_view Store::trouble() const {
  return implementation_->trouble();
}
std::string_view Store::said(StoreError error) const {
  return implementation_->said(error);
}
void Store::watch(std::function<void()> changed) {
  implementation_->watch(std::move(changed));
}

}  // namespace weir::redis
