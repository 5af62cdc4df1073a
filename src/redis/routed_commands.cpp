#include "redis/routed_commands.hpp"

#include <hiredis/hiredis.h>
#include <iterator>
#include <new>
#include <utility>

#include "redis/error_reply.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/node.hpp"

namespace weir::redis {

void RoutedCommands::Call::on_reply(const redisReply& reply) noexcept {
  if (reply.type == REDIS_REPLY_ERROR) {
    const auto redirect = owner.nodes_.on_refused(*node, text_of(reply));
    if (redirect.node != nullptr && redirects++ < most_redirects)
      return owner.transmit(*this, redirect.node, redirect.asking);
  }
  end(reply.type == REDIS_REPLY_ERROR ? error_of(text_of(reply)) : store::Error::none, &reply);
}

void RoutedCommands::Call::end(store::Error error, const redisReply* reply) noexcept {
  const OnReply call = std::move(when_over);
  const auto otherwise = std::move(give_up);
  owner.calls_.erase(position);
  try {
    call(error, reply);
  } catch (const std::bad_alloc&) {
    otherwise();
  }
}

void RoutedCommands::send(HashSlot slot, std::span<const std::string_view> words, OnReply on_reply,
                          std::function<void()> give_up) {
  std::string command = command_of(words);
  Call& call = calls_.emplace_back(*this, std::move(on_reply), std::move(give_up));
  call.position = std::prev(calls_.end());
  call.command = std::move(command);
  transmit(call, nodes_.node_at(slot), false);
}

void RoutedCommands::transmit(Call& call, Node* node, bool asking) {
  call.node = node;
  const bool is_sent = node != nullptr && node->connection().send(call.command, call, asking);
  if (!is_sent) call.end(store::Error::not_connected, nullptr);
}

}  // namespace weir::redis
