#include "redis/store.hpp"

#include <hiredis/hiredis.h>
#include <new>
#include <utility>

#include "redis/connection.hpp"
#include "redis/error_reply.hpp"
#include "redis/generation_question.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/instance_announcement.hpp"
#include "redis/outcomes.hpp"
#include "redis/override_commands.hpp"
#include "redis/pending_questions.hpp"
#include "redis/probe.hpp"
#include "redis/question_command.hpp"
#include "redis/result.hpp"
#include "redis/script_loader.hpp"
#include "redis/script_set.hpp"
#include "redis/script_shas.hpp"
#include "store/looks.hpp"

namespace weir::redis {
namespace {

std::string timeout_text(Duration timeout) {
  const std::int64_t us = to_us(timeout);
  const bool is_in_ms = us % 1000 == 0;
  return "no answer within " + std::to_string(is_in_ms ? us / 1000 : us) +
         (is_in_ms ? " ms" : " us");
}

constexpr std::string_view unexpected_reply = "the reply is not one of the script";

/// For scripts that take the time as an argument.
std::optional<Instant> script_time(const ScriptSet& scripts, Instant now) {
  if (scripts.clock() == Clock::argument) return now;
  return std::nullopt;
}

}  // namespace

/// Sends the questions, and completes them with what the replies mean.
class Store::Implementation final : public Connection::Owner, public PendingQuestions::Owner {
 public:
  Implementation(asio::io_context& io, const Options& options, StoreSetup setup,
                 const MonotonicClock& clock, StoreCounters& counters)
      : options_(options),
        timeout_text_(timeout_text(options.timeout)),
        policy_names_(std::move(setup.policy_names)),
        keys_{.prefix = options_.key_prefix, .policy_names = policy_names_},
        scripts_(setup.algorithm_sets, setup.script_clock),
        counters_(counters),
        outcomes_(counters),
        questions_(io, clock, outcomes_, *this),
        probe_(setup.algorithm_sets, no_policy),
        generation_(options_.key_prefix, clock),
        overrides_(connection_, options_.key_prefix, setup.script_clock),
        holds_({io, connection_, scripts_, loader_, keys_, clock, counters, setup.seed}),
        instances_(options_.key_prefix, setup.script_clock),
        connection_(io, options_, scripts_.texts(), shas_, setup.seed, *this) {
    holds_.add_policies(setup.holding_policies);
    questions_.set_holds(holds_);
  }

  void extend(std::vector<std::string> policy_names, const std::vector<AlgorithmSet>& sets,
              std::vector<bool> holding_policies);
  Connection& connection() { return connection_; }
  void stop() {
    connection_.stop();
    questions_.stop();
    holds_.stop();
  }
  bool is_ready() const { return connection_.is_ready() && !connection_.is_leaving(); }
  void acquire(store::Acquisition& acquisition, store::Completion& completion, Instant now) {
    ask(acquisition, acquisition.claims, completion, now);
  }
  void peek(store::Acquisition& acquisition, store::Completion& completion, Instant now) {
    const store::Looks looks = store::looks_of(acquisition.claims);
    ask(acquisition, {looks.data(), looks.size()}, completion, now);
  }
  void probe(store::Completion& completion, Instant now) {
    acquire(probe_.acquisition(now), completion, now);
  }
  bool read_generation(store::GenerationReceiver& receiver) {
    return is_ready() && generation_.read(connection_, receiver);
  }
  store::Overrides& overrides() { return overrides_; }
  bool announce(const Announcement& announcement, Instant now, AnnouncementDone done) {
    return is_ready() && instances_.send(connection_, announcement, now, std::move(done));
  }
  bool has_decided() const { return outcomes_.has_decided() || !probe_.can_ask(); }
  void forget(const store::Key& key, store::Completion& completion);
  Holds& holds() { return holds_; }
  void reconnect() { connection_.abandon(timeout_text_); }
  std::string_view last_error() const {
    return connection_.is_ready() ? outcomes_.last_error() : connection_.machine().last_error();
  }
  std::string_view last_reply(store::Error error) const { return outcomes_.last_reply(error); }
  void watch(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  void on_ready() override;
  void on_failure() override;
  void on_reply(Question& question, const redisReply& reply) noexcept override;
  void read_arrived() noexcept override { connection_.read_arrived(); }

  void ask(store::Acquisition& acquisition, std::span<const store::Claim> claims,
           store::Completion& completion, Instant now);
  void send(Question& question, Duration waited /* of the timeout */);
  void on_error(Question& question, const redisReply& reply) noexcept;
  bool repeat(Question& question) noexcept;

  const Options options_;
  const std::string timeout_text_;  ///< composed in advance: reconnect() is called without memory
  // These grow when the configuration changes; an element keeps its index.
  std::vector<std::string> policy_names_;
  KeySpace keys_;
  ScriptSet scripts_;
  ScriptShas shas_;
  StoreCounters& counters_;
  std::function<void()> changed_;

  Outcomes outcomes_;
  PendingQuestions questions_;
  ScriptLoader loader_{connection_, scripts_, shas_};
  Probe probe_;
  GenerationQuestion generation_;
  OverrideCommands overrides_;
  Holds holds_;
  InstanceAnnouncement instances_;
  Connection connection_;  ///< last: its destructor calls recipients
};

void Store::Implementation::extend(std::vector<std::string> policy_names,
                                   const std::vector<AlgorithmSet>& sets,
                                   std::vector<bool> holding_policies) {
  holds_.add_policies(holding_policies);
  policy_names_ = std::move(policy_names);
  keys_.policy_names = policy_names_;
  scripts_.add(sets);
  if (!probe_.can_ask()) probe_.use(scripts_.sets());
}

// ---- asking ----

/// `claims`: those of the acquisition, or looks at them. Valid during the call only.
void Store::Implementation::ask(store::Acquisition& acquisition,
                                std::span<const store::Claim> claims, store::Completion& completion,
                                Instant now) {
  questions_.take(completion, &acquisition, [&](Question& question) {
    if (!is_ready()) return questions_.fail_later(question, store::Error::not_connected);
    for (std::size_t i = 0; i < claims.size(); ++i)
      acquisition.decisions[i].limit = claims[i].policy->capacity;
    if (holds_.concerns(claims)) {
      const auto composed =
          holds_.compose(question.command, question.holds, claims, script_time(scripts_, now));
      if (!composed) return questions_.fail_later(question, store::Error::overloaded);
      question.script = *composed;
      return send(question, now - acquisition.arrived_at);
    }
    const auto script = scripts_.find(algorithms_of(claims));
    if (!script) return questions_.fail_later(question, store::Error::other);
    question.script = *script;
    append_question(question.command, loader_.name_of(*script), keys_, claims,
                    script_time(scripts_, now), acquisition.repeats);
    send(question, now - acquisition.arrived_at);
  });
}

void Store::Implementation::forget(const store::Key& key, store::Completion& completion) {
  questions_.take(completion, nullptr, [&](Question& question) {
    if (!is_ready()) return questions_.fail_later(question, store::Error::not_connected);
    holds_.forget(key);
    append_forget(question.command, keys_, key.identity, key.policy_id);
    send(question, Duration{0});
  });
}

/// Nothing throws once the command has been sent.
void Store::Implementation::send(Question& question, Duration waited) {
  try {
    questions_.set_timeout(question, options_.timeout - waited);
  } catch (...) {
    holds_.not_run(question.holds);
    throw;
  }
  if (!connection_.send(question.command, question)) {
    holds_.not_run(question.holds);
    return questions_.fail_later(question, store::Error::not_connected);
  }
  counters_.questions.add();
  if (!question.holds.empty()) holds_.on_sent(question.holds);
  questions_.await_reply(question);
}

// ---- answers ----

void Store::Implementation::on_reply(Question& question, const redisReply& reply) noexcept {
  if (reply.type == REDIS_REPLY_ERROR) return on_error(question, reply);
  const store::Result result = question.holds.empty()
                                   ? result_of(reply, question.acquisition)
                                   : holds_.result_of(question.holds, reply, *question.acquisition);
  if (result.error == store::Error::none) {
    outcomes_.on_reply();
  } else {
    outcomes_.on_error_reply(result.error, unexpected_reply);
  }
  questions_.complete(question, result);
}

void Store::Implementation::on_error(Question& question, const redisReply& reply) noexcept {
  const auto text = text_of(reply);
  const auto error = error_of(text);
  if (error == store::Error::script_missing && repeat(question)) return;
  holds_.not_run(question.holds);
  outcomes_.on_error_reply(error, text.empty() ? unexpected_reply : text);
  // After a failover the name resolves to the new primary.
  if (error == store::Error::read_only) connection_.abandon_later(outcomes_.last_error());
  questions_.complete(question, failed(error));
}

/// Sends a question again after NOSCRIPT, the only error that proves that nothing ran. It keeps its
/// place and its deadline. Returns false if it cannot be sent, also for lack of memory.
bool Store::Implementation::repeat(Question& question) noexcept {
  if (question.repeated || question.acquisition == nullptr) return false;
  question.repeated = true;
  try {
    loader_.load(question.script);
    return connection_.send(as_eval(question.command, scripts_.texts()[question.script]), question);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// ---- the connection ----

void Store::Implementation::on_ready() {
  outcomes_.on_ready();
  holds_.on_ready();
  if (changed_) changed_();
}

void Store::Implementation::on_failure() {
  if (changed_) changed_();
}

Store::Store(boost::asio::io_context& io, const Options& options, StoreSetup setup,
             const MonotonicClock& clock, StoreCounters& counters)
    : implementation_(
          std::make_unique<Implementation>(io, options, std::move(setup), clock, counters)) {}
Store::~Store() = default;

void Store::extend(std::vector<std::string> policy_names,
                   const std::vector<AlgorithmSet>& algorithm_sets,
                   std::vector<bool> holding_policies) {
  implementation_->extend(std::move(policy_names), algorithm_sets, std::move(holding_policies));
}
void Store::start() {
  implementation_->connection().start();
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
void Store::settle(std::span<const store::Settlement> settlements, Instant now) {
  implementation_->holds().settle(settlements, now);
}
bool Store::is_settling() const {
  return implementation_->holds().is_settling();
}
bool Store::is_ready() const {
  return implementation_->is_ready();
}
bool Store::has_decided() const {
  return implementation_->has_decided();
}
std::uint64_t Store::replies() const {
  return implementation_->connection().replies();
}
std::size_t Store::unanswered() const {
  return implementation_->connection().unanswered();
}
bool Store::is_silent() const {
  return implementation_->connection().is_silent();
}
void Store::reconnect() {
  implementation_->reconnect();
}
std::optional<store::Result> Store::probe(store::Completion& completion, Instant now) {
  implementation_->probe(completion, now);
  return std::nullopt;
}
bool Store::read_generation(store::GenerationReceiver& receiver) {
  return implementation_->read_generation(receiver);
}
bool Store::announce(const Announcement& announcement, Instant now, AnnouncementDone done) {
  return implementation_->announce(announcement, now, std::move(done));
}

store::Overrides& Store::overrides() {
  return implementation_->overrides();
}
std::string_view Store::last_error() const {
  return implementation_->last_error();
}
store::Error Store::connection_failure() const {
  return implementation_->connection().machine().last_failure();
}
std::string_view Store::last_reply(store::Error error) const {
  return implementation_->last_reply(error);
}
void Store::watch(std::function<void()> changed) {
  implementation_->watch(std::move(changed));
}

}  // namespace weir::redis
