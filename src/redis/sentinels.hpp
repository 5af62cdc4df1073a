// Queries the sentinels for the address of the master, and subscribes to changes at one of them.
//
// A search connects to one sentinel after the other (redis/sentinel_search.hpp). Beside it, one
// connection subscribes to +switch-master, so that a failover is noticed although the old master
// still answers. When it ends, it is made to the next sentinel. A message only makes a search begin
// earlier: its address is not used. Used on the loop only.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "loop/io.hpp"
#include "loop/lookup.hpp"
#include "redis/connection.hpp"
#include "redis/master_layout.hpp"
#include "redis/sentinel_search.hpp"

namespace weir::redis {

class Sentinels final : public Locator, public std::enable_shared_from_this<Sentinels> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `moved` is called from the loop when a sentinel reports another master than the one that was
  /// located last.
  static std::shared_ptr<Sentinels> make(asio::io_context& io, const options::Redis& options,
                                         std::function<void(const options::RedisServer&)> moved);
  Sentinels(const Sentinels&) = delete;
  Sentinels& operator=(const Sentinels&) = delete;

  /// Begins to listen.
  void start();
  /// Ends everything; no function is called any more.
  void stop() noexcept;

  void locate(Time deadline, Done done) override;
  void cancel() noexcept override;
  void on_ready() noexcept override;

  /// The master of the last connection that was ready; nullptr: there was none.
  const std::shared_ptr<const MasterLayout>& masters() const { return masters_; }

 private:
  struct Conversation;

  Sentinels(asio::io_context& io, const options::Redis& options,
            std::function<void(const options::RedisServer&)> moved);
  static loop::Task<> search(std::shared_ptr<Sentinels> self, std::uint64_t number, Time deadline);
  loop::Task<> ask_all(std::uint64_t number, Time deadline);
  static loop::Task<> listen(std::shared_ptr<Sentinels> self);
  loop::Task<> listen_to(const options::RedisServer& sentinel);
  loop::Task<std::string> ask(Conversation& with, const options::RedisServer& sentinel, Time until);
  loop::Task<> subscribe(Conversation& with);
  std::string commands() const;
  void look_up(options::RedisServer master);
  void finish(Result<Located> result);
  void on_switch(const std::optional<options::RedisServer>& master);

  asio::io_context& io_;
  const options::Redis options_;
  std::function<void(const options::RedisServer&)> moved_;
  SentinelSearch search_;
  std::uint64_t searches_ = 0;  ///< begun so far; one that is not the last is cancelled
  Done done_;
  std::optional<loop::Lookup> lookup_;
  std::optional<options::RedisServer> located_;
  std::shared_ptr<const MasterLayout> located_masters_;  ///< the same for masters()
  std::shared_ptr<const MasterLayout> masters_;
  Conversation* asking_ = nullptr;     ///< of the search
  Conversation* listening_ = nullptr;  ///< of listen()
  loop::Timer pause_;                  ///< of listen()
  bool is_stopped_ = true;
};

}  // namespace weir::redis
