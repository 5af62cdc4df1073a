#include "redis/node.hpp"

#include <hiredis/hiredis.h>
#include <new>
#include <utility>

#include "redis/answer.hpp"
#include "redis/connection.hpp"
#include "redis/error_reply.hpp"
#include "redis/generation_question.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/holds.hpp"
#include "redis/joined_calls.hpp"
#include "redis/outcomes.hpp"
#include "redis/pending_questions.hpp"
#include "redis/probe.hpp"
#include "redis/question_command.hpp"
#include "redis/script_loader.hpp"
#include "redis/script_set.hpp"
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
class Node::Implementation final : public Connection::Owner, public PendingQuestions::Owner {
 public:
  Implementation(const Dependencies& with, Node& node)
      : node_(node),
        options_(with.options),
        timeout_text_(timeout_text(options_.timeout)),
        catalog_(with.catalog),
        nodes_(with.nodes),
        holds_(with.holds),
        counters_(with.counters),
        node_counters_(with.node_counters),
        outcomes_(counters_),
        questions_(with.io, with.clock, outcomes_, &holds_, *this),
        joined_({.connection = connection_,
                 .catalog = catalog_,
                 .loader = loader_,
                 .counters = counters_,
                 .by_slot = options_.topology == options::RedisTopology::cluster}),
        probe_(catalog_.scripts().sets(), no_policy),
        generation_(options_.key_prefix, node, nodes_, with.clock),
        connection_(with.io, options_, catalog_.scripts().texts(), shas_, with.seed, *this,
                    with.locator) {}

  void on_catalog() {
    if (!probe_.can_ask()) probe_.use(catalog_.scripts().sets());
  }
  Connection& connection() { return connection_; }
  JoinedCalls& joined() { return joined_; }
  void stop() {
    connection_.stop();
    joined_.on_connection_end();
    questions_.stop();
    node_counters_.is_ready.store(false, std::memory_order_relaxed);
  }
  bool is_ready() const { return connection_.is_ready() && !connection_.is_leaving(); }
  void ask(store::Acquisition& acquisition, std::span<const store::Claim> claims,
           store::Completion& completion, Instant now);
  void probe(store::Completion& completion, Instant now) {
    store::Acquisition& acquisition = probe_.acquisition(nodes_.an_identity_of(node_), now);
    ask(acquisition, acquisition.claims, completion, now);
  }
  bool read_generation(store::GenerationReceiver& receiver) {
    joined_.flush();
    return is_ready() && generation_.read(connection_, receiver);
  }
  void settle(std::span<const store::Settlement> settlements, Instant now) {
    holds_.settle(settlements, now);
  }
  bool has_decided() const { return outcomes_.has_decided() || !probe_.can_ask(); }
  void forget(const store::Key& key, store::Completion& completion);
  void set_asking(bool asking) { is_asking_ = asking; }
  ScriptLoader& loader() { return loader_; }
  void reconnect() {
    if (connection_.is_ready()) connection_.abandon(timeout_text_);
  }
  const Outcomes& outcomes() const { return outcomes_; }
  void watch(std::function<void()> changed) { changed_ = std::move(changed); }

 private:
  void on_ready() override;
  void on_failure() override;
  bool on_write(bool after_replies) noexcept override { return joined_.on_write(after_replies); }
  void on_reply(Question& question, const redisReply& reply) noexcept override;
  void read_arrived() noexcept override { connection_.read_arrived(); }
  void send(Question& question, Duration waited /* of the timeout */);
  void on_error(Question& question, const redisReply& reply) noexcept;
  bool repeat(Question& question) noexcept;
  bool compose_again(Question& question);

  Node& node_;
  const options::Redis& options_;
  const std::string timeout_text_;  ///< composed in advance: reconnect() is called without memory
  Catalog& catalog_;
  NodeLookup& nodes_;
  Holds& holds_;
  ScriptShas shas_;
  StoreCounters& counters_;
  NodeCounters& node_counters_;
  bool is_asking_ = false;  ///< see Node::set_asking()
  std::function<void()> changed_;

  Outcomes outcomes_;
  PendingQuestions questions_;
  ScriptLoader loader_{connection_, catalog_.scripts(), shas_};
  JoinedCalls joined_;
  Probe probe_;
  GenerationQuestion generation_;
  Connection connection_;  ///< last: its destructor calls recipients
};

// ---- asking ----

/// `claims`: those of the acquisition, or looks at them. Valid during the call only.
void Node::Implementation::ask(store::Acquisition& acquisition,
                               std::span<const store::Claim> claims, store::Completion& completion,
                               Instant now) {
  questions_.take(completion, &acquisition, [&](Question& question) {
    question.is_asking = std::exchange(is_asking_, false);
    if (!is_ready()) return questions_.fail_later(question, store::Error::not_connected);
    for (std::size_t i = 0; i < claims.size(); ++i)
      acquisition.decisions[i].limit = claims[i].policy->capacity;
    if (catalog_.holds(claims)) {
      const auto composed = holds_.compose(question.command, question.holds, claims,
                                           script_time(catalog_.scripts(), now), loader_);
      if (!composed) return questions_.fail_later(question, store::Error::overloaded);
      question.script = *composed;
      return send(question, now - acquisition.arrived_at);
    }
    const auto script = catalog_.scripts().find(algorithms_of(claims));
    if (!script) return questions_.fail_later(question, store::Error::other);
    question.script = *script;
    const ScriptName name = loader_.name_of(*script);
    question.parts = append_question(question.command, name, catalog_.keys(), claims,
                                     script_time(catalog_.scripts(), now), acquisition.repeats);
    question.may_join = name.by == ScriptName::By::sha && can_be_joined(question.parts);
    send(question, now - acquisition.arrived_at);
  });
}

void Node::Implementation::forget(const store::Key& key, store::Completion& completion) {
  questions_.take(completion, nullptr, [&](Question& question) {
    question.is_asking = std::exchange(is_asking_, false);
    if (!is_ready()) return questions_.fail_later(question, store::Error::not_connected);
    holds_.forget(key);
    joined_.flush();
    append_forget(question.command, catalog_.keys(), key.identity, key.policy_id);
    send(question, Duration{0});
  });
}

/// Nothing throws once the command has been sent.
void Node::Implementation::send(Question& question, Duration waited) {
  try {
    questions_.set_timeout(question, options_.timeout - waited);
  } catch (...) {
    holds_.not_run(question.holds);
    throw;
  }
  if (question.may_join && !question.is_asking) {
    joined_.add(question);
  } else if (connection_.send(question.command, question, question.is_asking)) {
    counters_.calls.add();
  } else {
    holds_.not_run(question.holds);
    return questions_.fail_later(question, store::Error::not_connected);
  }
  counters_.questions.add();
  if (!question.holds.empty()) holds_.on_sent(question.holds);
  questions_.await_reply(question);
}

// ---- answers ----

void Node::Implementation::on_reply(Question& question, const redisReply& reply) noexcept {
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

void Node::Implementation::on_error(Question& question, const redisReply& reply) noexcept {
  const auto text = text_of(reply);
  const auto error = error_of(text);
  if (error == store::Error::script_missing && repeat(question)) return;
  holds_.not_run(question.holds);
  const bool is_redirected =
      nodes_.on_refused(node_, text).is_expected && error == store::Error::redirected;
  if (is_redirected) return questions_.redirect(question);
  outcomes_.on_error_reply(error, text.empty() ? unexpected_reply : text);
  // After a failover the name resolves to the new primary.
  if (error == store::Error::read_only) connection_.abandon_later(outcomes_.last_error());
  questions_.complete(question, failed(error));
}

/// The keys that it holds units of were reset meanwhile: it takes units of their present fields.
bool Node::Implementation::compose_again(Question& question) {
  holds_.not_run(question.holds);
  question.command.clear();
  const store::Acquisition& acquisition = *question.acquisition;
  const auto script =
      holds_.compose(question.command, question.holds, acquisition.claims,
                     script_time(catalog_.scripts(), acquisition.arrived_at), loader_);
  return script == question.script;
}

/// Sends a question again after NOSCRIPT, the only error that proves that nothing ran. It keeps its
/// place and its deadline. Returns false if it cannot be sent, also for lack of memory.
bool Node::Implementation::repeat(Question& question) noexcept {
  if (question.repeated || question.acquisition == nullptr) return false;
  question.repeated = true;
  try {
    loader_.load(question.script);
    const bool is_composed_again = Holds::are_forgotten(question.holds);
    if (is_composed_again && !compose_again(question)) return false;
    question.command = as_eval(question.command, catalog_.scripts().texts()[question.script]);
    if (!connection_.send(question.command, question, question.is_asking)) return false;
    if (is_composed_again) holds_.on_sent(question.holds);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// ---- the connection ----

void Node::Implementation::on_ready() {
  node_counters_.is_ready.store(true, std::memory_order_relaxed);
  outcomes_.on_ready();
  holds_.on_ready();
  if (changed_) changed_();
}

void Node::Implementation::on_failure() {
  node_counters_.is_ready.store(false, std::memory_order_relaxed);
  joined_.on_connection_end();
  if (changed_) changed_();
}

Node::Node(const Dependencies& with)
    : implementation_(std::make_unique<Implementation>(with, *this)) {}
Node::~Node() = default;

void Node::on_catalog() {
  implementation_->on_catalog();
}
void Node::start() {
  implementation_->connection().start();
}
void Node::stop() {
  implementation_->stop();
}
std::optional<store::Result> Node::acquire(store::Acquisition& acquisition,
                                           store::Completion& completion, Instant now) {
  implementation_->ask(acquisition, acquisition.claims, completion, now);
  return std::nullopt;
}
std::optional<store::Result> Node::peek(store::Acquisition& acquisition,
                                        store::Completion& completion, Instant now) {
  const store::Looks looks = store::looks_of(acquisition.claims);
  implementation_->ask(acquisition, {looks.data(), looks.size()}, completion, now);
  return std::nullopt;
}
std::optional<store::Result> Node::forget(const store::Key& key, store::Completion& completion,
                                          Instant) {
  implementation_->forget(key, completion);
  return std::nullopt;
}
void Node::settle(std::span<const store::Settlement> settlements, Instant now) {
  implementation_->settle(settlements, now);
}
void Node::set_asking(bool asking) {
  implementation_->set_asking(asking);
}
bool Node::is_ready() const {
  return implementation_->is_ready();
}
bool Node::has_decided() const {
  return implementation_->has_decided();
}
std::uint64_t Node::replies() const {
  return implementation_->connection().traffic().replies;
}
std::size_t Node::unanswered() const {
  return implementation_->connection().traffic().unanswered + implementation_->joined().uncounted();
}
bool Node::is_silent() const {
  const Silence& silence = implementation_->connection().traffic().silence;
  return silence.is_over_limit(std::chrono::steady_clock::now());
}
void Node::leave(std::string_view why) {
  implementation_->connection().abandon(why);
}
void Node::reconnect() {
  implementation_->reconnect();
}
std::optional<store::Result> Node::probe(store::Completion& completion, Instant now) {
  implementation_->probe(completion, now);
  return std::nullopt;
}
bool Node::read_generation(store::GenerationReceiver& receiver) {
  return implementation_->read_generation(receiver);
}
Connection& Node::connection() {
  implementation_->joined().flush();
  return implementation_->connection();
}
ScriptLoader& Node::loader() {
  return implementation_->loader();
}
std::string_view Node::last_error() const {
  const Connection& connection = implementation_->connection();
  return connection.is_ready() ? implementation_->outcomes().last_error()
                               : connection.machine().last_error();
}
store::Error Node::connection_failure() const {
  return implementation_->connection().machine().last_failure();
}
std::string_view Node::last_reply(store::Error error) const {
  return implementation_->outcomes().last_reply(error);
}
void Node::watch(std::function<void()> changed) {
  implementation_->watch(std::move(changed));
}

}  // namespace weir::redis
