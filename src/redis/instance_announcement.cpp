#include "redis/instance_announcement.hpp"

#include <hiredis/hiredis.h>
#include <new>
#include <utility>

#include "base/text.hpp"
#include "redis/error_reply.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/node.hpp"

namespace weir::redis {
namespace {

std::optional<OtherInstance> take_instance(std::string_view& lines) {
  const auto id = take_before(lines, ' ');
  const auto digest = take_before(lines, ' ');
  const auto ends = take_before(lines, '\n');
  if (!id || !digest || !ends) return std::nullopt;
  const auto us = parse_number<std::int64_t>(*ends);
  if (!us) return std::nullopt;
  return OtherInstance{std::string(*id), std::string(*digest), instant_from_us(*us)};
}

}  // namespace

std::optional<OtherInstances> others_in(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_STRING) return std::nullopt;
  OtherInstances others;
  for (std::string_view lines = text_of(reply); !lines.empty();) {
    auto instance = take_instance(lines);
    if (!instance) return std::nullopt;
    others.push_back(std::move(*instance));
  }
  return others;
}

InstanceAnnouncement::InstanceAnnouncement(std::string_view key_prefix, Clock clock)
    : list_key_(std::string(key_prefix) + "{!instances}"),
      clock_(clock),
      script_(script_for_instances(clock)) {}

bool InstanceAnnouncement::send(NodeLookup& nodes, const Announcement& announcement, Instant now,
                                AnnouncementDone done) {
  Node* const node = nodes.node_at(slot_of_key(list_key_));
  if (done_ || node == nullptr) return false;
  const std::string lifetime = std::to_string(to_us(announcement_lifetime) / 1000);
  const std::string most = std::to_string(most_instances);
  const std::string script_time = std::to_string(to_us(now));
  std::vector<std::string_view> words{
      "EVAL", script_, "1", list_key_, announcement.id, announcement.digest, lifetime, most};
  if (clock_ == Clock::argument) words.push_back(script_time);
  const std::string command = command_of(words);
  done_ = std::move(done);
  nodes_ = &nodes;
  node_ = node;
  if (node->connection().send(command, *this)) return true;
  done_ = nullptr;
  return false;
}

void InstanceAnnouncement::on_reply(const redisReply& reply) noexcept {
  // The next one goes to the node that has the list.
  nodes_->on_refused(*node_, text_of(reply));
  try {
    const auto others = others_in(reply);
    end(others ? &*others : nullptr);
  } catch (const std::bad_alloc&) {
    end(nullptr);
  }
}

void InstanceAnnouncement::end(const OtherInstances* others) noexcept {
  const AnnouncementDone done = std::exchange(done_, nullptr);
  if (!done) return;
  try {
    done(others);
  } catch (const std::bad_alloc&) {
    // The next announcement reports it again.
  }
}

}  // namespace weir::redis
