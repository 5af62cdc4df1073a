// One Redis server as a store: a connection, the scripts that the server has loaded, and what waits
// for its replies.
//
// Belongs to one worker and is used on its loop only. Completes every call later, even a failure.
// Without a connection every call fails in the next pass of the loop; the store reconnects by
// itself, with backoff and jitter, and resolves the name again. All commands of one pass of the
// loop are sent in one write. An answer that arrives after its deadline is dropped, and a command
// that may have run is not sent again. A call that throws std::bad_alloc sends nothing and is not
// completed. Destroy it when no completion is pending: after stop() and one more pass of the loop,
// or with the loop; never from within a completion.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "options/redis.hpp"
#include "redis/catalog.hpp"
#include "redis/node_counters.hpp"
#include "redis/node_lookup.hpp"
#include "redis/outcomes.hpp"
#include "store/error.hpp"
#include "store/remote_store.hpp"

namespace weir::redis {

class Connection;
class Holds;
class Locator;
class ScriptLoader;

class Node final : public store::RemoteStore {
 public:
  struct Dependencies {
    boost::asio::io_context& io;
    const options::Redis& options;
    Catalog& catalog;
    Holds& holds;                 ///< of the worker
    NodeLookup& nodes;            ///< for commands that this node refuses
    const MonotonicClock& clock;  ///< read for the `now` of completions
    StoreCounters& counters;
    NodeCounters& node_counters;
    std::uint64_t seed = 0;      ///< of the reconnect jitter; random in production
    Locator* locator = nullptr;  ///< see Connection
  };
  /// All dependencies outlive the node.
  explicit Node(const Dependencies& with);
  ~Node() override;

  /// The catalog has grown.
  void on_catalog();
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

  /// The next question follows ASKING: the node is importing its keys. False: it does not after
  /// all, because it was not sent.
  void set_asking(bool asking);

  /// Connected, authenticated, scripts loaded.
  bool is_ready() const override;
  /// False before the first decision of a connection. True if there is no script.
  bool has_decided() const override;
  std::uint64_t replies() const override;
  std::size_t unanswered() const override;
  /// Whether no reply arrived for connect_timeout.
  bool is_silent() const override;
  void reconnect() override;
  /// As Connection::abandon(). `why`: for last_error().
  void leave(std::string_view why);
  std::optional<store::Result> probe(store::Completion& completion, Instant now) override;
  bool read_generation(store::GenerationReceiver& receiver) override;
  /// For commands that are no questions. Sends the questions that wait first.
  Connection& connection();
  ScriptLoader& loader();

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
