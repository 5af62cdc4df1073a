#include "redis/event_mark_commands.hpp"

#include <array>
#include <hiredis/hiredis.h>
#include <utility>
#include <vector>

#include "redis/generation_question.hpp"
#include "redis/override_text.hpp"
#include "redis/question_command.hpp"

namespace weir::redis {

EventMarkCommands::EventMarkCommands(NodeLookup& nodes, std::string_view key_prefix, Clock clock)
    : prefix_(key_prefix),
      clock_(clock),
      script_(script_for_event_marks(clock)),
      commands_(nodes) {}

void EventMarkCommands::mark(const store::EventMark& mark, Instant now, Done done) {
  std::string key;
  append_event_marks_key(key, {.prefix = prefix_, .policy_names = {&mark.policy, 1}}, mark.identity,
                         0);
  const std::string percent = std::to_string(mark.percent);
  const std::string ends_after = std::to_string(to_us(mark.ends_after));
  const std::string earlier_until = std::to_string(to_us(mark.earlier_until));
  const std::string kept_for_ms =
      std::to_string(std::chrono::ceil<std::chrono::milliseconds>(mark.kept_for).count());
  const std::string script_time = std::to_string(to_us(now));
  std::vector<std::string_view> words{"EVAL",  script_,    "1",           key,
                                      percent, ends_after, earlier_until, kept_for_ms};
  if (clock_ == Clock::argument) words.push_back(script_time);
  const auto on_reply = [done](store::Error error, const redisReply* reply) {
    const bool is_answer = error == store::Error::none && reply->type == REDIS_REPLY_INTEGER;
    if (error == store::Error::none && !is_answer) error = store::Error::other;
    done({.error = error, .marked_for = Duration{is_answer ? reply->integer : 0}});
  };
  commands_.send(slot_of(mark.identity), words, on_reply,
                 [done] { done({.error = store::Error::out_of_memory}); });
}

void EventMarkCommands::read_generation(OnGeneration done) {
  const std::string key = generation_key(prefix_);
  const auto on_reply = [done](store::Error error, const redisReply* reply) {
    done(error == store::Error::none ? generation_in(*reply) : 0);
  };
  commands_.send(slot_of_key(key), std::array<std::string_view, 2>{"GET", key}, on_reply,
                 [] { /* It is read again. */ });
}

}  // namespace weir::redis
