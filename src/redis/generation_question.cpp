#include "redis/generation_question.hpp"

#include <array>
#include <hiredis/hiredis.h>

#include "base/text.hpp"
#include "redis/error_reply.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/override_text.hpp"

namespace weir::redis {

std::uint64_t generation_in(const redisReply& reply) {
  return parse_number<std::uint64_t>(text_of(reply)).value_or(0);
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
