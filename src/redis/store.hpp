// The store that instances share: one connection to Redis, whose scripts decide.
//
// Belongs to one worker and is used on its loop only. Completes every call later, even a failure.
// Without a connection every call fails in the next pass of the loop; the store reconnects by
// itself, with backoff and jitter, and resolves the name again. All commands of one pass of the
// loop are sent in one write. An answer that arrives after its deadline is dropped, and a command
// that may have run is not sent again. A call that throws std::bad_alloc sends nothing and is not
// completed. Destroy it when no completion is pending: after stop() and one more pass of the loop,
// or with the loop; never from within a completion. Names are resolved by getaddrinfo in a thread
// of the loop, which cannot be cancelled: the destructor of the loop waits for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "redis/instances.hpp"
#include "redis/options.hpp"
#include "redis/script.hpp"
#include "redis/store_counters.hpp"
#include "store/error.hpp"
#include "store/override.hpp"
#include "store/remote_store.hpp"

namespace weir::redis {

/// The policies and scripts of a store.
struct StoreSetup {
  std::vector<std::string> policy_names;  ///< by Claim::policy_id
  /// Every set of algorithms that a request's claims can have together, each once; their scripts
  /// are loaded when connecting. A request with another set is a programming error and fails with
  /// Error::other.
  std::vector<AlgorithmSet> algorithm_sets;
  std::uint64_t seed = 0;  ///< of the reconnect jitter and the fields; random in production
  Clock script_clock = Clock::server;  ///< argument (tests): the scripts take acquire()'s `now`
  /// By Claim::policy_id: some claims of the policy hold, so all of them are decided beside holds.
  std::vector<bool> holding_policies{};
};

class Store final : public store::RemoteStore {
 public:
  /// `clock` is read for the `now` of completions.
  Store(boost::asio::io_context& io, const Options& options, StoreSetup setup,
        const MonotonicClock& clock, StoreCounters& counters);
  ~Store() override;

  /// Prepares for another configuration. `policy_names` begin with those there are. Scripts for new
  /// sets are loaded when they are first used, and are sent as text until then.
  void extend(std::vector<std::string> policy_names,
              const std::vector<AlgorithmSet>& algorithm_sets,
              std::vector<bool> holding_policies = {});
  /// Connects, and keeps doing so until stop().
  void start();
  /// Ends the connection and fails pending calls. Nothing of this store stays in the loop.
  void stop();

  /// Within what is left of options.timeout since Acquisition::arrived_at.
  std::optional<store::Result> acquire(store::Acquisition& acquisition,
                                       store::Completion& completion, Instant now) override;
  std::optional<store::Result> peek(store::Acquisition& acquisition, store::Completion& completion,
                                    Instant now) override;
  std::optional<store::Result> forget(const store::Key& key, store::Completion& completion,
                                      Instant now) override;
  /// Sent in this pass of the loop, or when the connection is ready again.
  void settle(std::span<const store::Settlement> settlements, Instant now) override;

  /// True while settlements wait for the connection or for their reply.
  bool is_settling() const;

  /// Connected, authenticated, scripts loaded.
  bool is_ready() const override;
  /// False before the first decision of a connection. True if there is no script.
  bool has_decided() const override;
  std::uint64_t replies() const override;
  std::size_t unanswered() const override;
  /// Whether no reply arrived for connect_timeout.
  bool is_silent() const override;
  void reconnect() override;
  std::optional<store::Result> probe(store::Completion& completion, Instant now) override;
  bool read_generation(store::GenerationReceiver& receiver) override;
  /// The overrides that the scripts read; its calls report later.
  store::Overrides& overrides();
  /// Announces this instance; `done` is called later. Returns false, and sends nothing, without a
  /// connection or before the reply to the previous call.
  bool announce(const Announcement& announcement, Instant now, AnnouncementDone done);

  /// The reason why the last attempt or the connection failed, or, while ready, the last reply if
  /// it was an error. Empty if there was no failure. For the log and /readyz; never contains a
  /// secret.
  std::string_view last_error() const;
  /// Why there is no connection; `none` while ready. See ConnectionMachine::last_failure().
  store::Error connection_failure() const;
  /// The text of the last error reply of this kind; empty if Redis has returned none.
  std::string_view last_reply(store::Error error) const;
  /// Called from the loop when is_ready() has changed or another attempt failed.
  void watch(std::function<void()> changed);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace weir::redis
