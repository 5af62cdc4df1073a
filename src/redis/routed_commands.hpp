// Commands that are no questions, sent to the node that has their key: follows redirections.
//
// Used on the loop only; reports later, on the loop. There is no timeout: a report comes with the
// reply or when the connection ends.
#pragma once

#include <functional>
#include <list>
#include <span>
#include <string>
#include <string_view>

#include "redis/connection.hpp"
#include "redis/hash_slot.hpp"
#include "redis/node_lookup.hpp"
#include "store/error.hpp"

namespace weir::redis {

class RoutedCommands {
 public:
  /// Receives the reply, or an error: of the reply, or why there is none (nullptr).
  using OnReply = std::function<void(store::Error, const redisReply*)>;

  /// The constructor does not use the nodes.
  explicit RoutedCommands(NodeLookup& nodes) : nodes_(nodes) {}
  RoutedCommands(const RoutedCommands&) = delete;
  RoutedCommands& operator=(const RoutedCommands&) = delete;

  /// Reports also within this call, if there is no connection. If it throws std::bad_alloc, nothing
  /// was sent and it does not report. `give_up` is called, later, if `on_reply` throws
  /// std::bad_alloc.
  void send(HashSlot slot, std::span<const std::string_view> words, OnReply on_reply,
            std::function<void()> give_up);

 private:
  /// A command without a reply.
  struct Call final : Recipient {
    Call(RoutedCommands& its_owner, OnReply its_on_reply, std::function<void()> its_give_up)
        : owner(its_owner), when_over(std::move(its_on_reply)), give_up(std::move(its_give_up)) {}
    void on_reply(const redisReply& reply) noexcept override;
    void on_loss(store::Error, std::string_view) noexcept override {
      end(store::Error::connection_lost, nullptr);
    }
    void end(store::Error error, const redisReply* reply) noexcept;

    RoutedCommands& owner;
    OnReply when_over;
    std::function<void()> give_up;
    std::string command{};
    Node* node = nullptr;  ///< to which it was sent
    int redirects = 0;
    std::list<Call>::iterator position{};
  };
  /// A command is sent to so many other nodes.
  static constexpr int most_redirects = 5;

  void transmit(Call& call, Node* node, bool asking);

  NodeLookup& nodes_;
  std::list<Call> calls_;  ///< that have no reply
};

}  // namespace weir::redis
