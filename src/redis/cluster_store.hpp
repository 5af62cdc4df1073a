// The nodes of a cluster as one store: sends each call to the node that has the slot of its keys,
// and again to another one if that node refuses it because of the slot.
//
// The claims of a call have keys in one slot: store/split_requests.hpp comes before it in the
// chain. A refusal proves that nothing has run, so the call is sent again within its timeout, to
// the node that the refusal names; after TRYAGAIN, or if that node is not connected yet, a little
// later. Belongs to one worker and is used on its loop only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/ring.hpp"
#include "loop/handler_memory.hpp"
#include "loop/io.hpp"
#include "redis/hash_slot.hpp"
#include "redis/holds.hpp"
#include "redis/node.hpp"
#include "store/circuit_breaker.hpp"
#include "store/reused.hpp"

namespace weir::redis {

class ClusterStore final : public store::GuardedStore {
 public:
  struct Master {
    Node& node;
    store::CircuitBreaker& breaker;
  };
  struct Refusal {
    Master* to = nullptr;  ///< the node that the refusal names; nullptr: none is known
    bool asking = false;   ///< the call follows ASKING there
  };
  /// The servers that have a connection.
  class Masters {
   public:
    /// nullptr: none is known. Valid until the loop runs again.
    virtual Master* master_at(HashSlot slot) = 0;
    /// Also servers without slots: those of the configuration, and those that import slots.
    virtual std::vector<Master*> masters() = 0;
    /// The last refusal; a result of Error::redirected follows it at once.
    virtual Refusal last_refusal() const = 0;

   protected:
    ~Masters() = default;
  };
  struct Dependencies {
    boost::asio::io_context& io;
    Masters& masters;
    Holds& holds;
    StoreCounters& counters;
    const MonotonicClock& clock;
    HashSlot generation_slot = 0;  ///< of the generation of the overrides
    Duration timeout{0};           ///< of a call, from Acquisition::arrived_at
    store::NodeControl::Options breaker;
  };

  explicit ClusterStore(const Dependencies& with);
  ClusterStore(const ClusterStore&) = delete;
  ClusterStore& operator=(const ClusterStore&) = delete;

  std::optional<store::Result> acquire(store::Acquisition& acquisition,
                                       store::Completion& completion, Instant now) override;
  std::optional<store::Result> peek(store::Acquisition& acquisition, store::Completion& completion,
                                    Instant now) override;
  std::optional<store::Result> forget(const store::Key& key, store::Completion& completion,
                                      Instant now) override;
  void settle(std::span<const store::Settlement> settlements, Instant now) override;

  bool is_trusted(const Hash128& identity) const override;
  bool read_generation(store::GenerationReceiver& receiver) override;
  void probe(Instant now) override;
  void set_breaker(int failures, Duration retry_after) override;
  store::NodeControl::State state() const override;
  store::Error last_error() const override;

  /// For the breakers of further nodes.
  const store::NodeControl::Options& breaker_options() const { return with_.breaker; }
  /// Leaves nothing in the loop. The calls that wait fail in its next pass.
  void stop();

 private:
  /// A call is sent to so many nodes. Each but the last has refused it.
  static constexpr int most_sends = 100;
  static constexpr Duration pause = std::chrono::milliseconds(1);

  enum class Kind : std::uint8_t { acquire, peek, forget };
  struct Call final : store::Completion, Ring<Call> {
    explicit Call(ClusterStore& its_store) : store(its_store) {}
    void complete(const store::Result& result, Instant now) noexcept override {
      store.answer(*this, result, now);
    }
    ClusterStore& store;
    Kind kind{};
    store::Acquisition* acquisition = nullptr;
    store::Key key{};  ///< to forget
    store::Completion* caller = nullptr;
    HashSlot slot = 0;
    Instant due{};
    int sends = 0;
  };

  std::optional<store::Result> ask(Kind kind, store::Acquisition& acquisition,
                                   store::Completion& completion, Instant now);
  template <class Prepare>
  std::optional<store::Result> begin(HashSlot slot, Instant now, Prepare&& prepare);
  std::optional<store::Result> send(Call& call, Master* master, bool asking, Instant now);
  std::optional<store::Result> send_to(Call& call, Master& master, Instant now);
  void answer(Call& call, const store::Result& result, Instant now) noexcept;
  std::optional<store::Result> follow(Call& call, Instant now) noexcept;
  std::optional<store::Result> wait(Call& call) noexcept;
  void end(Call& call, const store::Result& result, Instant now) noexcept;
  void send_waiting(Instant now) noexcept;

  Dependencies with_;
  store::Reused<Call> calls_;
  Call waiting_{*this};  ///< the head of those that are sent again a little later
  loop::Timer timer_;
  loop::HandlerMemory timer_handler_;
  bool is_armed_ = false;
  bool is_stopped_ = false;
  loop::Presence presence_;
};

}  // namespace weir::redis
