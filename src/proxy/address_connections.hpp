// The open connections of each client address, and the rate of its new ones, for
// downstream.per_address. One table for all workers: the kernel distributes the connections of a
// client over them.
//
// Pure: the time is an argument. Thread-safe, by a lock for the time of one look-up. Used when a
// connection is accepted and when it ends, and only while a bound is configured.
//
// Memory: one entry for each address with an open connection, so never more than connections. In
// addition, an address without one is kept until its rate has recovered. If there are more than
// `most_idle` of these, the one that was seen least recently is forgotten, as in a zone of nginx's
// limit_req.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/ip_address.hpp"
#include "base/log_limit.hpp"
#include "base/siphash.hpp"
#include "base/time.hpp"
#include "options/proxy.hpp"
#include "rules/gcra.hpp"

namespace weir::proxy {

class AddressConnections {
  struct Entry {
    IpAddress address;
    std::size_t connections = 0;
    rules::GcraState rate{};
  };
  using Entries = std::list<Entry>;

 public:
  struct Options {
    SipKey key;  ///< random in production, because clients choose their addresses
    std::size_t most_idle = 65'536;
  };

  enum class Bound : std::uint8_t { none, connections, rate };

  /// A connection that counts for its address until it is destroyed. The table outlives it.
  class Slot {
   public:
    Slot() = default;
    Slot(Slot&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), entry_(other.entry_) {}
    Slot& operator=(Slot&& other) noexcept {
      std::swap(table_, other.table_);
      std::swap(entry_, other.entry_);
      return *this;
    }
    ~Slot() {
      if (is_taken()) table_->release(entry_);
    }
    bool is_taken() const { return table_ != nullptr; }

   private:
    friend AddressConnections;
    Slot(AddressConnections& table, Entries::iterator entry) : table_(&table), entry_(entry) {}

    AddressConnections* table_ = nullptr;
    Entries::iterator entry_{};
  };

  explicit AddressConnections(const Options& options)
      : most_idle_(options.most_idle), by_address_(0, Hash{options.key}) {}

  /// Counts a new connection in `slot`, which was empty. Or returns the bound that it would exceed;
  /// such a connection is not counted, and not charged to the rate. `address` is masked: the
  /// addresses of one client are one.
  Bound admit(const IpAddress& address, const options::PerAddress& bounds, Instant now, Slot& slot);
  /// Counts a connection that was accepted before there was a bound.
  Slot count(const IpAddress& address);

  /// True if a line about refused connections is to be logged: once a minute for each bound, for
  /// all addresses together.
  bool may_log(Bound bound, Instant now) {
    return refusals_.may_log(static_cast<std::uint64_t>(bound), now);
  }

  /// The addresses that are in memory.
  std::size_t size() const;

 private:
  struct Hash {
    SipKey key;
    std::size_t operator()(const IpAddress& address) const;
  };

  Entries::iterator find_or_add(const IpAddress& address);
  Slot take(Entries::iterator entry);
  void release(Entries::iterator entry);
  void forget(Entries::iterator idle);
  void forget_recovered(const options::PerAddress& bounds);

  const std::size_t most_idle_;
  LogLimit refusals_{
      {.interval = std::chrono::minutes(1), .most = 2, .repeated_after = std::chrono::minutes(1)}};
  mutable std::mutex mutex_;  ///< for all below
  std::unordered_map<IpAddress, Entries::iterator, Hash> by_address_;
  Entries busy_;      ///< with open connections
  Entries idle_;      ///< without; the one seen least recently is the first
  Instant latest_{};  ///< the time of the table: workers may come in another order than their times
};

}  // namespace weir::proxy
