// Announces this instance to the others that use the same Redis and key prefix, and reads what they
// announced, so that instances that count in different ways find out.
//
// PREFIX{!instances} has a line for each instance. It expires soon after the last of them has gone.
// Used on the loop only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "redis/connection.hpp"
#include "redis/instances.hpp"
#include "redis/node_lookup.hpp"
#include "redis/script.hpp"

namespace weir::redis {

/// Nothing if the script does not return such a reply.
std::optional<OtherInstances> others_in(const redisReply& reply);

class InstanceAnnouncement final : public Recipient {
 public:
  InstanceAnnouncement(std::string_view key_prefix, Clock clock);
  InstanceAnnouncement(const InstanceAnnouncement&) = delete;
  InstanceAnnouncement& operator=(const InstanceAnnouncement&) = delete;

  /// One at a time: returns false, and sends nothing, before the reply to the previous one, or if
  /// the node of the list is not connected.
  bool send(NodeLookup& nodes, const Announcement& announcement, Instant now,
            AnnouncementDone done);

  void on_reply(const redisReply& reply) noexcept override;
  void on_loss(store::Error, std::string_view) noexcept override { end(nullptr); }

 private:
  void end(const OtherInstances* others) noexcept;

  const std::string list_key_;
  const Clock clock_;
  const std::string script_;
  NodeLookup* nodes_ = nullptr;
  Node* node_ = nullptr;   ///< that was asked
  AnnouncementDone done_;  ///< empty: not asked
};

}  // namespace weir::redis
