// The decisions of another configuration about the same log: those that flip, in both directions.
//
// offline::Comparison decides each request under both. Identities are hashed with the secret of the
// first configuration, so that a key has one hash, whatever denies it. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/siphash.hpp"
#include "base/time.hpp"
#include "limiter/options.hpp"
#include "offline/comparison.hpp"
#include "options/proxy.hpp"
#include "replay/arrival.hpp"
#include "store/memory_store.hpp"

namespace weir::replay {

/// A key whose decisions flip in one direction.
struct FlippedKeyReport {
  std::string policy;
  std::string identity;  ///< its name
  Hash128 hash{};
  std::optional<std::string> address{};  ///< if the identity is the client's address
  std::uint64_t flips = 0;               ///< at most, and at least `flips - error`
  std::uint64_t error = 0;
};

struct FlipReport {
  std::string file;  ///< of the other configuration, as it was given
  offline::ComparisonCounts counts{};
  std::vector<FlippedKeyReport> denied{};    ///< keys that only the other configuration denies
  std::vector<FlippedKeyReport> admitted{};  ///< keys that only the first configuration denies
  /// The other file has another identity_secret, which is not used.
  bool secret_differs = false;
  /// It is used: files list plans by hashes that it made. A key has one hash for each file then.
  bool has_two_hashes = false;
};

/// A configuration with the secret of another, if that can be.
struct SharedSecret {
  limiter::Options limits;
  bool secret_differs = false;
  bool has_two_hashes = false;

  SharedSecret(const limiter::Options& first, const limiter::Options& other);
};

class Flips {
 public:
  /// Both configurations outlive this.
  Flips(const offline::Comparison::Configuration& first,
        const offline::Comparison::Configuration& other, const store::MemoryStoreOptions& store)
      : comparison_(first, other, store) {}

  /// Receives a request, in the order of time.
  void receive(const Arrival& arrival, Instant now);
  void finish() { comparison_.advance(Instant::max()); }

  /// With this many keys for each direction.
  FlipReport report(std::size_t most_keys) const;

 private:
  offline::Comparison comparison_;
  std::uint64_t labels_ = 0;
};

}  // namespace weir::replay
