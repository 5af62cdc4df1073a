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

#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.hpp"
#include "redis/connection.hpp"
#include "redis/node_lookup.hpp"
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
  /// Receives the reply, or an error: of the reply, or why there is none (nullptr).
  using OnReply = std::function<void(store::Error, const redisReply*)>;
  /// A command without a reply.
  struct Call final : Recipient {
    Call(OverrideCommands& its_owner, std::shared_ptr<Task> its_task, OnReply its_on_reply)
        : owner(its_owner), task(std::move(its_task)), when_over(std::move(its_on_reply)) {}
    void on_reply(const redisReply& reply) noexcept override;
    void on_loss(store::Error, std::string_view) noexcept override {
      end(store::Error::connection_lost, nullptr);
    }
    void end(store::Error error, const redisReply* reply) noexcept;

    OverrideCommands& owner;
    std::shared_ptr<Task> task;
    OnReply when_over;
    std::string command{};
    Node* node = nullptr;  ///< to which it was sent
    int redirects = 0;
    std::list<Call>::iterator position{};
  };
  /// A command is sent to so many other nodes.
  static constexpr int most_redirects = 5;

  void send(const std::shared_ptr<Task>& task, HashSlot slot,
            std::span<const std::string_view> words, OnReply on_reply);
  void transmit(Call& call, Node* node, bool asking);
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
  std::list<Call> calls_;  ///< that have no reply
};

}  // namespace weir::redis
