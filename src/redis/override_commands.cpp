#include "redis/override_commands.hpp"

#include <algorithm>
#include <array>
#include <hiredis/hiredis.h>
#include <new>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "redis/error_reply.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/override_text.hpp"
#include "redis/override_walk.hpp"
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

/// The key has another type, so somebody else wrote it: malformed, like a text that cannot be read.
bool is_of_another_type(const redisReply* reply) {
  return reply != nullptr && reply->type == REDIS_REPLY_ERROR &&
         text_of(*reply).starts_with("WRONGTYPE");
}

OverrideReport failure(store::Error error) {
  return {.outcome = Outcome::failed, .error = error};
}

}  // namespace

/// A call that is reported once.
struct OverrideCommands::Task {
  explicit Task(Done its_done) : done(std::move(its_done)) {}

  void end() {
    if (is_reported) return;
    done(std::move(report));
    is_reported = true;
  }
  /// Nothing was sent.
  void end_unsent() {
    report = failure(store::Error::not_connected);
    end();
  }
  /// There is no memory to go on.
  void fail() noexcept {
    try {
      report = failure(store::Error::out_of_memory);
      end();
    } catch (const std::bad_alloc&) {
      is_reported = true;  // the receiver has a timeout of its own
    }
  }

  Done done;
  OverrideReport report{};
  bool is_reported = false;
};

void OverrideCommands::Call::end(const redisReply* reply) noexcept {
  const auto its_task = std::move(task);
  const OnReply call = std::move(when_over);
  owner.calls_.erase(position);
  try {
    call(reply);
  } catch (const std::bad_alloc&) {
    its_task->fail();
  }
}

/// A change: the reply of the script, then that to the SET of the generation.
struct OverrideCommands::Change final : Task {
  Change(Done its_done, bool removes) : Task(std::move(its_done)), is_removal(removes) {}

  bool is_removal;
};

struct OverrideCommands::Listing final : Task {
  Listing(Done its_done, Instant its_now, std::stop_token its_over)
      : Task(std::move(its_done)), now(its_now), over(std::move(its_over)) {}

  Instant now;
  std::stop_token over;
  std::optional<OverrideWalk> walk{};  ///< a list of all
  std::size_t pending = 0;             ///< keys that are being read
};

OverrideCommands::OverrideCommands(Connection& connection, std::string_view key_prefix, Clock clock)
    : connection_(connection),
      prefix_(key_prefix),
      clock_(clock),
      script_(script_for_overrides(clock)),
      random_(random_seed()) {}

/// Without a connection the reply is nullptr, at once.
void OverrideCommands::send(const std::shared_ptr<Task>& task,
                            std::span<const std::string_view> words, OnReply on_reply) {
  const std::string command = command_of(words);
  Call& call = calls_.emplace_back(*this, task, std::move(on_reply));
  call.position = std::prev(calls_.end());
  if (!connection_.send(command, call)) call.on_loss(store::Error::not_connected, {});
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
  const auto change = std::make_shared<Change>(std::move(done), line.empty());
  if (!connection_.is_ready()) return change->end_unsent();
  const std::string key = key_of(prefix_, identity);
  const std::string most = std::to_string(store::overrides_per_identity);
  const std::string script_time = std::to_string(to_us(now));
  std::vector<std::string_view> words{"EVAL", script_, "1", key, name, line, most};
  if (clock_ == Clock::argument) words.push_back(script_time);
  send(change, words, [change](const redisReply* reply) {
    if (const auto error = error_in(reply); error != store::Error::none) {
      change->report = failure(error);
    } else if (reply->integer < 0) {
      change->report.outcome = Outcome::full;
    } else if (change->is_removal && reply->integer == 0) {
      change->report.outcome = Outcome::absent;
    }
  });
  try {
    send_generation(change);
  } catch (const std::bad_alloc&) {
    change->fail();
  }
}

/// After the script: an instance that reads this generation reads the new entry, too.
void OverrideCommands::send_generation(const std::shared_ptr<Change>& change) {
  const std::string generation_at = generation_key(prefix_);
  const std::string generation = std::to_string(random_.next() >> 1 | 1);
  send(change,
       std::array<std::string_view, 5>{"SET", generation_at, generation, "PX", generation_ttl_ms},
       [change](const redisReply* reply) {
         const auto error = error_in(reply);
         if (error != store::Error::none && change->report.outcome != Outcome::failed)
           change->report = failure(error);
         change->end();
       });
}

void OverrideCommands::list(const std::optional<Hash128>& identity, Instant now,
                            std::stop_token over, Done done) {
  const auto listing = std::make_shared<Listing>(std::move(done), now, std::move(over));
  if (!connection_.is_ready()) return listing->end_unsent();
  if (identity) return read(listing, *identity);
  listing->walk.emplace();
  scan(listing);
}

void OverrideCommands::scan(const std::shared_ptr<Listing>& listing) {
  const std::string pattern = overrides_pattern(prefix_);
  send(listing,
       std::array<std::string_view, 6>{"SCAN", listing->walk->cursor(), "MATCH", pattern, "COUNT",
                                       keys_per_scan},
       [this, listing](const redisReply* reply) {
         const auto error = error_in(reply);
         if (error != store::Error::none) {
           listing->report = failure(error);
           return listing->end();
         }
         on_page(listing, *reply);
       });
}

void OverrideCommands::on_page(const std::shared_ptr<Listing>& listing, const redisReply& page) {
  if (page.type != REDIS_REPLY_ARRAY || page.elements != 2 ||
      page.element[1]->type != REDIS_REPLY_ARRAY) {
    listing->report = failure(store::Error::other);
    return listing->end();
  }
  const redisReply& keys = *page.element[1];
  std::vector<Hash128> owners;
  for (std::size_t i = 0; i < keys.elements; ++i) {
    if (const auto owner = identity_of_overrides_key(text_of(*keys.element[i]), prefix_))
      owners.push_back(*owner);
  }
  ++listing->pending;  // this page, so that the listing does not go on within read()
  for (const Hash128& owner : listing->walk->take(text_of(*page.element[0]), owners))
    read(listing, owner);
  --listing->pending;
  if (listing->pending == 0) go_on(listing);
}

void OverrideCommands::read(const std::shared_ptr<Listing>& listing, const Hash128& identity) {
  ++listing->pending;
  const std::string key = key_of(prefix_, identity);
  send(listing, std::array<std::string_view, 2>{"GET", key},
       [this, listing, identity](const redisReply* reply) {
         OverrideReport& report = listing->report;
         if (is_of_another_type(reply)) {
           report.overrides.push_back({.identity = identity, .is_malformed = true});
         } else if (const auto error = error_in(reply);
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
  if (listing->walk && report.outcome == Outcome::done) {
    const bool is_cut = report.overrides.size() > most_listed;
    if (is_cut) report.overrides.resize(most_listed);
    if (is_cut || listing->over.stop_requested()) listing->walk->stop();
    if (listing->walk->has_next()) return scan(listing);
    report.is_complete = listing->walk->is_complete() && !is_cut;
  }
  listing->end();
}

}  // namespace weir::redis
