// Reads the generation of the overrides: a GET of generation_key(). One at a time; used on the loop
// only.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "redis/connection.hpp"
#include "redis/node_lookup.hpp"
#include "store/remote_store.hpp"

namespace weir::redis {

/// The number in a reply to the GET; 0 if there is no key, or a value that is no number.
std::uint64_t generation_in(const redisReply& reply);

class GenerationQuestion final : public Recipient {
 public:
  GenerationQuestion(std::string_view key_prefix, Node& node, NodeLookup& nodes,
                     const MonotonicClock& clock);
  GenerationQuestion(const GenerationQuestion&) = delete;
  GenerationQuestion& operator=(const GenerationQuestion&) = delete;

  /// `connection`: of the node. Returns false if nothing was sent.
  bool read(Connection& connection, store::GenerationReceiver& receiver);

  void on_reply(const redisReply& reply) noexcept override;
  void on_loss(store::Error, std::string_view) noexcept override {
    std::exchange(receiver_, nullptr)->on_no_generation();
  }

 private:
  const std::string command_;
  Node& node_;
  NodeLookup& nodes_;
  const MonotonicClock& clock_;
  store::GenerationReceiver* receiver_ = nullptr;  ///< nullptr: not asked
};

}  // namespace weir::redis
