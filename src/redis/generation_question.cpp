#include "redis/generation_question.hpp"

#include <array>
#include <charconv>
#include <hiredis/hiredis.h>

#include "redis/error_reply.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/override_text.hpp"

namespace weir::redis {

std::uint64_t generation_in(const redisReply& reply) {
  const std::string_view text = text_of(reply);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : 0;
}

GenerationQuestion::GenerationQuestion(std::string_view key_prefix, Node& node, NodeLookup& nodes,
                                       const MonotonicClock& clock)
    : command_(command_of(std::array<std::string_view, 2>{"GET", generation_key(key_prefix)})),
      node_(node),
      nodes_(nodes),
      clock_(clock) {}

bool GenerationQuestion::read(Connection& connection, store::GenerationReceiver& receiver) {
  if (receiver_ != nullptr || !connection.send(command_, *this)) return false;
  receiver_ = &receiver;
  return true;
}

void GenerationQuestion::on_reply(const redisReply& reply) noexcept {
  store::GenerationReceiver& receiver = *std::exchange(receiver_, nullptr);
  if (reply.type == REDIS_REPLY_ERROR) {
    nodes_.on_refused(node_, text_of(reply));
    return receiver.on_no_generation();
  }
  receiver.on_generation(generation_in(reply), clock_.now());
}

}  // namespace weir::redis
