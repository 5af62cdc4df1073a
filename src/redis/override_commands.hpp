// The overrides in Redis, for the admin API: puts, removes and lists them. And the entries of
// attributed windows.
//
// A change sets the generation too (generation_key), so that every instance discards the denials
// that it remembers (ADR 0014). A list of all overrides walks the keys with SCAN, which needs no
// index that could disagree with the keys. Used on the loop only;
// reports later, on the loop. There is no timeout: a report comes with the reply or when the
// connection ends. A call that throws std::bad_alloc sends nothing and does not report. Without
// memory later on, the report is Error::out_of_memory, or there is none if its receiver throws.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.hpp"
#include "redis/node_lookup.hpp"
#include "redis/routed_commands.hpp"
#include "redis/script.hpp"
#include "store/entries.hpp"
#include "store/override.hpp"

namespace weir::redis {

class OverrideCommands final : public store::Overrides, public store::EntryReader {
 public:
  /// Overrides in one list.
  static constexpr std::size_t most_listed = 10'000;

  using Done = Overrides::Done;

  /// The constructor does not use the nodes.
  OverrideCommands(NodeLookup& nodes, std::string_view key_prefix, Clock clock);

  void put(const Hash128& identity, const store::Override& entry, Instant now, Done done) override;
  void remove(const Hash128& identity, const std::string& policy, Instant now, Done done) override;
  void end_denials(Done done) override;
  void list(const std::optional<Hash128>& identity, Instant now, std::stop_token over,
            Done done) override;
  void read_entries(const Hash128& identity, const std::string& policy,
                    EntryReader::Done done) override;

 private:
  struct Task;
  using OnReply = RoutedCommands::OnReply;

  void send(const std::shared_ptr<Task>& task, HashSlot slot,
            std::span<const std::string_view> words, OnReply on_reply);
  void change(const Hash128& identity, std::string_view name, std::string_view line, Instant now,
              Done done);
  void send_generation(const std::shared_ptr<Task>& change);
  void scan_all(const std::shared_ptr<Task>& listing);
  void scan(const std::shared_ptr<Task>& listing);
  void on_page(const std::shared_ptr<Task>& listing, const redisReply& page);
  void read(const std::shared_ptr<Task>& listing, const Hash128& identity);
  void go_on(const std::shared_ptr<Task>& listing);

  NodeLookup& nodes_;
  const std::string prefix_;
  const Clock clock_;
  const std::string script_;
  Random random_;
  RoutedCommands commands_;
};

}  // namespace weir::redis
