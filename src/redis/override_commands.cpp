#include "redis/override_commands.hpp"

#include <algorithm>
#include <array>
#include <hiredis/hiredis.h>
#include <utility>
#include <vector>

#include "redis/error_reply.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/override_text.hpp"
#include "redis/question_command.hpp"

namespace weir::redis {
namespace {

using store::OverrideReport;
using Outcome = OverrideReport::Outcome;

/// Long enough that no remembered denial from before a change outlives it.
constexpr std::string_view generation_ttl_ms = "60000";
constexpr std::string_view keys_per_scan = "1000";

std::string key_of(std::string_view prefix, const Hash128& identity) {
  std::string key;
  append_overrides_key(key, prefix, identity);
  return key;
}

/// The error that a reply, or the end of the connection, means.
store::Error error_in(const redisReply* reply) {
  if (reply == nullptr) return store::Error::connection_lost;
  return reply->type == REDIS_REPLY_ERROR ? error_of(text_of(*reply)) : store::Error::none;
}

OverrideReport failure(store::Error error) {
  return {.outcome = Outcome::failed, .error = error};
}

}  // namespace

void OverrideCommands::Call::end(const redisReply* reply) noexcept {
  const OnReply call = std::move(when_over);
  owner.calls_.erase(position);
  call(reply);
}

/// A change: the reply of the script, then that to the SET of the generation.
struct OverrideCommands::Change {
  bool is_removal;
  Done done;
  OverrideReport report{};
};

struct OverrideCommands::Listing {
  Done done;
  Instant now;
  OverrideReport report{};
  std::string cursor = "0";
  bool scans = false;  ///< there are more keys to look for
  int steps = 0;
  std::size_t pending = 0;  ///< keys that are being read
};

OverrideCommands::OverrideCommands(Connection& connection, std::string_view key_prefix, Clock clock)
    : connection_(connection),
      prefix_(key_prefix),
      clock_(clock),
      script_(script_for_overrides(clock)),
      random_(random_seed()) {}

/// Without a connection the reply is nullptr, at once.
void OverrideCommands::send(std::span<const std::string_view> words, OnReply on_reply) {
  Call& call = calls_.emplace_back(*this, std::move(on_reply));
  call.position = std::prev(calls_.end());
  if (!connection_.send(command_of(words), call)) call.on_loss(store::Error::not_connected);
}

void OverrideCommands::put(const Hash128& identity, const store::Override& entry, Instant now,
                           Done done) {
  change(identity, override_name(entry.policy), override_line(entry), now, std::move(done));
}

void OverrideCommands::remove(const Hash128& identity, const std::string& policy, Instant now,
                              Done done) {
  change(identity, override_name(policy), {}, now, std::move(done));
}

void OverrideCommands::change(const Hash128& identity, std::string_view name, std::string_view line,
                              Instant now, Done done) {
  const auto change = std::make_shared<Change>(line.empty(), std::move(done));
  const std::string key = key_of(prefix_, identity);
  const std::string most = std::to_string(store::overrides_per_identity);
  const std::string script_time = std::to_string(to_us(now));
  std::vector<std::string_view> words{"EVAL", script_, "1", key, name, line, most};
  if (clock_ == Clock::argument) words.push_back(script_time);
  send(words, [change](const redisReply* reply) {
    if (const auto error = error_in(reply); error != store::Error::none) {
      change->report = failure(error);
    } else if (reply->integer < 0) {
      change->report.outcome = Outcome::full;
    } else if (change->is_removal && reply->integer == 0) {
      change->report.outcome = Outcome::absent;
    }
  });
  // After the script: an instance that reads this generation reads the new entry, too.
  const std::string generation_at = generation_key(prefix_);
  const std::string generation = std::to_string(random_.next() >> 1 | 1);
  send(std::array<std::string_view, 5>{"SET", generation_at, generation, "PX", generation_ttl_ms},
       [change](const redisReply* reply) {
         const auto error = error_in(reply);
         if (error != store::Error::none && change->report.outcome != Outcome::failed)
           change->report = failure(error);
         change->done(std::move(change->report));
       });
}

void OverrideCommands::list(const std::optional<Hash128>& identity, Instant now, Done done) {
  const auto listing = std::make_shared<Listing>(Listing{.done = std::move(done), .now = now});
  if (identity) return read(listing, *identity);
  listing->scans = true;
  scan(listing);
}

void OverrideCommands::scan(const std::shared_ptr<Listing>& listing) {
  const std::string pattern = overrides_pattern(prefix_);
  send(std::array<std::string_view, 6>{"SCAN", listing->cursor, "MATCH", pattern, "COUNT",
                                       keys_per_scan},
       [this, listing](const redisReply* reply) {
         const auto error = error_in(reply);
         if (error != store::Error::none) return listing->done(failure(error));
         on_page(listing, *reply);
       });
}

void OverrideCommands::on_page(const std::shared_ptr<Listing>& listing, const redisReply& page) {
  if (page.type != REDIS_REPLY_ARRAY || page.elements != 2 ||
      page.element[1]->type != REDIS_REPLY_ARRAY) {
    return listing->done(failure(store::Error::other));
  }
  listing->cursor = text_of(*page.element[0]);
  listing->scans = listing->cursor != "0" && ++listing->steps < most_scans;
  listing->report.is_complete = listing->scans || listing->cursor == "0";
  ++listing->pending;  // this page, so that the listing does not go on within read()
  const redisReply& keys = *page.element[1];
  for (std::size_t i = 0; i < keys.elements; ++i) {
    if (const auto owner = identity_of_overrides_key(text_of(*keys.element[i]), prefix_))
      read(listing, *owner);
  }
  --listing->pending;
  if (listing->pending == 0) go_on(listing);
}

void OverrideCommands::read(const std::shared_ptr<Listing>& listing, const Hash128& identity) {
  ++listing->pending;
  const std::string key = key_of(prefix_, identity);
  send(std::array<std::string_view, 2>{"GET", key},
       [this, listing, identity](const redisReply* reply) {
         OverrideReport& report = listing->report;
         if (const auto error = error_in(reply);
             error != store::Error::none && report.outcome == Outcome::done) {
           report = failure(error);
         } else if (report.outcome == Outcome::done && reply->type == REDIS_REPLY_STRING) {
           for (auto& entry : overrides_in(text_of(*reply), identity, listing->now))
             report.overrides.push_back(std::move(entry));
         }
         if (--listing->pending == 0) go_on(listing);
       });
}

/// All keys of a page were read.
void OverrideCommands::go_on(const std::shared_ptr<Listing>& listing) {
  OverrideReport& report = listing->report;
  if (report.outcome == Outcome::done && report.overrides.size() > most_listed) {
    report.overrides.resize(most_listed);
    report.is_complete = false;
  } else if (listing->scans && report.outcome == Outcome::done) {
    return scan(listing);
  }
  listing->done(std::move(report));
}

}  // namespace weir::redis
