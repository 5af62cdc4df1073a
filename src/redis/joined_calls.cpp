#include "redis/joined_calls.hpp"

#include <hiredis/hiredis.h>
#include <new>

#include "redis/error_reply.hpp"

namespace weir::redis {
namespace {

/// Whether the question is completed, or about to be, because its deadline has passed.
bool is_too_late(const Question& question) {
  return question.completion == nullptr || question.is_due;
}

JoinedQuestion joined_question(const Question& question) {
  return {.command = question.command, .parts = question.parts};
}

/// Errors of a call whose questions can be decided one by one. They prove that nothing ran.
bool is_error_of_joining(std::string_view text) {
  return text.starts_with("CROSSSLOT") || text.starts_with("TRYAGAIN");
}

}  // namespace

// ---- the queue ----

void JoinedCalls::add(Question& question) noexcept {
  if (queue_.size() == queue_.capacity()) flush();
  if (by_slot_) question.slot = slot_of(question.acquisition->claims.front().identity);
  queue_.push_back(&question);
  may_gather_ = question.acquisition->may_gather;
  const bool is_full_call = queue_.size() == most_joined_requests;
  if (queue_.size() == 1 || is_full_call) with_.connection.write_later();
}

bool JoinedCalls::on_write(bool after_replies) noexcept {
  const bool is_reply_to_come = with_.connection.traffic().unanswered > 0;
  const bool is_full_call = queue_.size() >= most_joined_requests;
  const bool gathers = may_gather_ && is_reply_to_come && !after_replies && !is_full_call;
  if (gathers && !queue_.empty()) return true;
  flush();
  return false;
}

void JoinedCalls::on_connection_end() noexcept {
  for (Question* const question : queue_)
    question->on_loss(store::Error::connection_lost, {});
  queue_.clear();
}

void JoinedCalls::flush() noexcept {
  if (queue_.size() == 1) {
    Question& only = *queue_.front();
    queue_.clear();
    return send_alone(only);
  }
  while (!queue_.empty()) {
    const Questions questions = take_group();
    try {
      if (questions.size() > 1 && send_joined(questions)) continue;
    } catch (const std::bad_alloc&) {
      // One by one.
    }
    for (Question* const question : questions)
      send_alone(*question);
  }
}

/// The first question in the queue, and those that can be joined with it.
JoinedCalls::Questions JoinedCalls::take_group() {
  Questions group;
  const Question& first = *queue_.front();
  const AlgorithmSet algorithms = with_.catalog.scripts().sets()[first.script];
  const std::size_t most = most_joined_claims(algorithms);
  std::size_t work = 0;
  auto kept = queue_.begin();
  for (Question* const question : queue_) {
    const bool is_first = group.empty();
    const std::size_t more = work_of(algorithms, question->parts);
    const bool has_room = group.size() < most_joined_requests && work + more <= most;
    if (is_first || (has_room && belongs(*question, first))) {
      group.push_back(question);
      work += more;
    } else {
      *kept++ = question;
    }
  }
  queue_.erase(kept, queue_.end());
  return group;
}

bool JoinedCalls::belongs(const Question& question, const Question& first) const {
  return question.script == first.script && (!by_slot_ || question.slot == first.slot) &&
         has_same_time(joined_question(question), joined_question(first));
}

// ---- sending ----

void JoinedCalls::send_alone(Question& question) noexcept {
  if (is_too_late(question)) return question.on_loss(store::Error::timeout, {});
  if (with_.connection.send(question.command, question)) return with_.counters.calls.add();
  question.on_loss(store::Error::not_connected, {});
}

/// Returns false, and sends nothing, if Redis has not loaded the script yet.
bool JoinedCalls::send_joined(const Questions& questions) {
  ScriptSet& scripts = with_.catalog.scripts();
  const AlgorithmSet algorithms = scripts.sets()[questions.front()->script];
  const std::size_t script =
      scripts.find_or_add(static_cast<AlgorithmSet>(algorithms | joins_requests));
  const std::string_view sha = with_.loader.loaded(script);
  if (sha.empty()) return false;
  auto call = calls_.borrow(*this);
  call->script = script;
  call->questions.clear();
  boost::container::static_vector<JoinedQuestion, most_joined_requests> parts;
  for (Question* const question : questions) {
    if (is_too_late(*question)) continue;
    call->questions.push_back(question);
    parts.push_back(joined_question(*question));
  }
  if (parts.size() < 2) return false;
  command_.clear();
  append_joined(command_, sha, {parts.data(), parts.size()});
  if (!with_.connection.send(command_, *call)) return false;
  with_.counters.calls.add();
  with_.counters.joined_calls.add();
  joined_ += call->questions.size() - 1;
  // Nothing throws from here on.
  if (call->questions.size() < questions.size()) {
    for (Question* const question : questions)
      if (is_too_late(*question)) question->on_loss(store::Error::timeout, {});
  }
  call.keep();
  return true;
}

// ---- replies ----

/// Passes each question to `end_one`, which may ask others, and gives the call back.
template <class End>
void JoinedCalls::end(Call& call, End&& end_one) noexcept {
  for (std::size_t i = 0; i < call.questions.size(); ++i) {
    if (i > 0) --joined_;
    end_one(*call.questions[i], i);
  }
  calls_.give_back(call);
}

void JoinedCalls::on_reply(Call& call, const redisReply& reply) noexcept {
  const std::string_view error = reply.type == REDIS_REPLY_ERROR ? text_of(reply) : "";
  if (is_error_of_joining(error)) {
    // A cluster whose slots are unknown here, or a slot that is being moved.
    by_slot_ = true;
    return end(call, [this](Question& question, std::size_t) { send_alone(question); });
  }
  if (error_of(error) == store::Error::script_missing) reload(call.script);
  const bool is_whole = reply.type == REDIS_REPLY_ARRAY && reply.elements == call.questions.size();
  end(call, [&](Question& question, std::size_t i) {
    const redisReply& one = is_whole ? *reply.element[i] : reply;
    // The call has reached its bound without this question.
    if (one.type == REDIS_REPLY_NIL) return send_alone(question);
    question.on_reply(one);
  });
}

void JoinedCalls::on_loss(Call& call, store::Error why, std::string_view text) noexcept {
  end(call, [&](Question& question, std::size_t) { question.on_loss(why, text); });
}

/// The questions are repeated one by one, as after any NOSCRIPT.
void JoinedCalls::reload(std::size_t script) noexcept {
  try {
    with_.loader.load(script);
  } catch (const std::bad_alloc&) {
    // The next call that finds no script is another occasion.
  }
}

}  // namespace weir::redis
