#include "redis/override_commands.hpp"

#include <algorithm>
#include <array>
#include <hiredis/hiredis.h>
#include <new>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

#include "redis/entry_text.hpp"
#include "redis/error_reply.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/node.hpp"
#include "redis/override_text.hpp"

namespace weir::redis {
namespace {

using store::OverrideReport;
using Outcome = OverrideReport::Outcome;

/// Long enough that no remembered denial from before a change outlives it.
constexpr std::string_view generation_ttl_ms = "60000";
constexpr std::string_view keys_per_scan = "1000";

/// The key has another type, so somebody else wrote it: malformed, like a text that cannot be read.
bool is_of_another_type(const redisReply* reply) {
  return reply != nullptr && reply->type == REDIS_REPLY_ERROR &&
         text_of(*reply).starts_with("WRONGTYPE");
}

}  // namespace

/// A change or a list. It is reported once.
struct OverrideCommands::Task {
  bool has_failed() const { return report.outcome == Outcome::failed; }
  /// Keeps the first error.
  void fail(store::Error error) {
    if (!has_failed()) report = {.outcome = Outcome::failed, .error = error};
  }
  void end() {
    if (is_reported) return;
    done(std::move(report));
    is_reported = true;
  }
  /// There is no memory to go on.
  void give_up() noexcept {
    try {
      report = {.outcome = Outcome::failed, .error = store::Error::out_of_memory};
      end();
    } catch (const std::bad_alloc&) {
      is_reported = true;  // the receiver has a timeout of its own
    }
  }

  Done done;
  Instant now{};                  ///< of a list
  std::stop_token over{};         ///< of a list
  std::vector<HashSlot> nodes{};  ///< to scan: a slot of each; the last one is being scanned
  std::string cursor = "0";       ///< of the next page, in a list of all; empty: of the first page
  std::set<Hash128> found{};      ///< SCAN may return a key more than once
  std::size_t pending = 0;        ///< keys that are being read
  OverrideReport report{};
  bool is_reported = false;
};

OverrideCommands::OverrideCommands(NodeLookup& nodes, std::string_view key_prefix, Clock clock)
    : nodes_(nodes),
      prefix_(key_prefix),
      clock_(clock),
      script_(script_for_overrides(clock)),
      random_(random_seed()),
      commands_(nodes) {}

void OverrideCommands::send(const std::shared_ptr<Task>& task, HashSlot slot,
                            std::span<const std::string_view> words, OnReply on_reply) {
  commands_.send(slot, words, std::move(on_reply), [task] { task->give_up(); });
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
  const auto change = std::make_shared<Task>(Task{.done = std::move(done)});
  const std::string key = overrides_key(prefix_, identity);
  const std::string most = std::to_string(store::overrides_per_identity);
  const std::string script_time = std::to_string(to_us(now));
  std::vector<std::string_view> words{"EVAL", script_, "1", key, name, line, most};
  if (clock_ == Clock::argument) words.push_back(script_time);
  send(change, slot_of(identity), words,
       [this, change, removes = line.empty()](store::Error error, const auto* reply) {
         if (error != store::Error::none) {
           change->fail(error);
         } else if (reply->integer < 0) {
           change->report.outcome = Outcome::full;
         } else if (removes && reply->integer == 0) {
           change->report.outcome = Outcome::absent;
         }
         send_generation(change);
       });
}

/// After the script has run: an instance that reads this generation reads the new entry, too. Also
/// after an error, because the script may have run.
void OverrideCommands::send_generation(const std::shared_ptr<Task>& change) {
  const std::string generation_at = generation_key(prefix_);
  const std::string generation = std::to_string(random_.next() >> 1 | 1);
  send(change, slot_of_key(generation_at),
       std::array<std::string_view, 5>{"SET", generation_at, generation, "PX", generation_ttl_ms},
       [change](store::Error error, const redisReply*) {
         if (error != store::Error::none) change->fail(error);
         change->end();
       });
}

void OverrideCommands::end_denials(Done done) {
  send_generation(std::make_shared<Task>(Task{.done = std::move(done)}));
}

void OverrideCommands::list(const std::optional<Hash128>& identity, Instant now,
                            std::stop_token over, Done done) {
  const auto listing =
      std::make_shared<Task>(Task{.done = std::move(done), .now = now, .over = std::move(over)});
  identity ? read(listing, *identity) : scan_all(listing);
}

/// A key of another type, and elements that are no entries, are somebody else's: none are shown.
void OverrideCommands::read_entries(const Hash128& identity, const std::string& policy,
                                    EntryReader::Done done) {
  const auto found = std::make_shared<store::EntryReport>();
  const auto reading = std::make_shared<Task>(
      Task{.done = [found, done = std::move(done)](const OverrideReport& report) {
        found->error = report.error;
        done(std::move(*found));
      }});
  const std::string key = entries_key(prefix_, identity, policy);
  const std::string oldest = '-' + std::to_string(store::most_entries_shown + 1);
  send(reading, slot_of(identity), std::array<std::string_view, 4>{"LRANGE", key, oldest, "-1"},
       [reading, found](store::Error error, const redisReply* reply) {
         const bool is_foreign = is_of_another_type(reply);
         if (error != store::Error::none && !is_foreign) reading->fail(error);
         const bool is_list = !is_foreign && !reading->has_failed() && reply != nullptr &&
                              reply->type == REDIS_REPLY_ARRAY;
         for (std::size_t i = 0; is_list && i < reply->elements; ++i) {
           if (auto entry = entry_in(text_of(*reply->element[i])))
             found->entries.push_back(std::move(*entry));
         }
         found->is_complete = found->entries.size() <= store::most_entries_shown;
         if (!found->is_complete) found->entries.erase(found->entries.begin());
         reading->end();
       });
}

void OverrideCommands::scan_all(const std::shared_ptr<Task>& listing) {
  listing->nodes = nodes_.one_slot_per_node();
  if (listing->nodes.empty()) listing->nodes.push_back(0);  // fails: no node is known
  scan(listing);
}

/// Reads a page of the keys.
void OverrideCommands::scan(const std::shared_ptr<Task>& listing) {
  const std::string pattern = overrides_pattern(prefix_);
  const std::string_view cursor = listing->cursor.empty() ? "0" : std::string_view(listing->cursor);
  send(listing, listing->nodes.back(),
       std::array<std::string_view, 6>{"SCAN", cursor, "MATCH", pattern, "COUNT", keys_per_scan},
       [this, listing](store::Error error, const redisReply* page) {
         const bool is_page = error == store::Error::none && page->type == REDIS_REPLY_ARRAY &&
                              page->elements == 2 && page->element[1]->type == REDIS_REPLY_ARRAY;
         if (is_page) return on_page(listing, *page);
         listing->fail(error == store::Error::none ? store::Error::other : error);
         listing->end();
       });
}

void OverrideCommands::on_page(const std::shared_ptr<Task>& listing, const redisReply& page) {
  listing->cursor = text_of(*page.element[0]);
  const redisReply& keys = *page.element[1];
  ++listing->pending;  // this page, so that the listing does not go on within read()
  for (std::size_t i = 0; i < keys.elements; ++i) {
    const auto owner = identity_of_overrides_key(text_of(*keys.element[i]), prefix_);
    if (owner && listing->found.insert(*owner).second) read(listing, *owner);
  }
  if (--listing->pending == 0) go_on(listing);
}

void OverrideCommands::read(const std::shared_ptr<Task>& listing, const Hash128& identity) {
  ++listing->pending;
  const std::string key = overrides_key(prefix_, identity);
  send(listing, slot_of(identity), std::array<std::string_view, 2>{"GET", key},
       [this, listing, identity](store::Error error, const redisReply* reply) {
         auto& overrides = listing->report.overrides;
         if (is_of_another_type(reply)) {
           overrides.push_back({.identity = identity, .is_malformed = true});
         } else if (error != store::Error::none) {
           listing->fail(error);
         } else if (!listing->has_failed() && reply->type == REDIS_REPLY_STRING) {
           for (auto& entry : overrides_in(text_of(*reply), identity, listing->now))
             overrides.push_back(std::move(entry));
         }
         if (--listing->pending == 0) go_on(listing);
       });
}

/// All keys of a page, or that of the one identity, were read.
void OverrideCommands::go_on(const std::shared_ptr<Task>& listing) {
  if (listing->cursor == "0" && listing->nodes.size() > 1) {
    listing->nodes.pop_back();
    listing->cursor = "";
  }
  OverrideReport& report = listing->report;
  const bool is_cut = report.overrides.size() > most_listed;
  const bool is_last = listing->cursor == "0";
  if (!listing->has_failed() && !is_cut && !is_last && !listing->over.stop_requested())
    return scan(listing);
  if (is_cut) report.overrides.resize(most_listed);
  report.is_complete = is_last && !is_cut;
  listing->end();
}

}  // namespace weir::redis
