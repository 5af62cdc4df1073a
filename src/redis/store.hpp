// The store that instances share: one connection to Redis, whose scripts decide.
//
// Belongs to one worker and is used on its loop only. While there is no connection every question
// fails at once; it reconnects by itself, with backoff and jitter, resolving the name anew. All
// questions of one pass of the loop leave in one write. An answer that comes after its deadline is
// dropped, and nothing that may have run is sent again. Destroyed when no receiver waits: after
// stop() and one more pass of the loop, or with the loop; never from within a call of a receiver.
// Names are resolved by getaddrinfo in a thread of the loop's, and nothing ends one that waits for
// a dead name server: the loop's destructor waits for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/counters.hpp"
#include "redis/options.hpp"
#include "redis/receiver.hpp"
#include "rules/decision.hpp"
#include "store/claim.hpp"

namespace weir::redis {

/// Read by a scrape; written by the worker.
struct StoreCounters {
  Counter questions;                  ///< sent, those repeated after NOSCRIPT not included
  Counter errors[store_error_count];  ///< by StoreError
  Counter connects;                   ///< handshakes that succeeded
  Counter late_answers;               ///< came after their deadline
};

/// One request's claims, to be decided together. Lives at one place until it is answered.
struct Question {
  std::span<const store::Claim> claims;  ///< needed only while ask() runs
  std::span<rules::Decision> decisions;  ///< written before on_answer(none); one a claim
  bool admitted = false;                 ///< as MemoryStore::acquire returns
  Receiver* receiver = nullptr;
  Duration waited{0};  ///< what of options.timeout had gone when it was asked
};

class Store {
 public:
  /// `policy_names` by Claim::policy_id. `algorithm_sets`: one bit an algorithm (1 << Algorithm)
  /// for every set of algorithms that a request's claims can have together, each once; their
  /// scripts are loaded when connecting. To ask with a set that is not among them is an error of
  /// the program, and is answered with `other`.
  Store(boost::asio::io_context& io, const Options& options, std::vector<std::string> policy_names,
        const std::vector<std::uint8_t>& algorithm_sets, StoreCounters& counters,
        std::uint64_t seed);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Connects, and keeps doing so until stop().
  void start();
  /// Ends the connection and fails what is pending; the loop is left with nothing of this store.
  void stop();

  /// Connected, authenticated, scripts loaded.
  bool is_ready() const;
  /// Sends the question. The receiver is told within what is left of options.timeout.
  void ask(Question& question);
  /// While has_decided() is false: asks a question of its own, so as to learn whether Redis
  /// decides. One at a time.
  void probe(Receiver& receiver);
  /// The last thing that came of this connection was a decision, not an error or a silence; or
  /// there is no script, and so never anything to decide.
  bool has_decided() const;
  /// Forgets a key: its next request finds a fresh state. `receiver` is told as for a question.
  void forget(const Hash128& identity, std::uint32_t policy_id, Receiver& receiver);
  /// The server has not said anything for connect_timeout.
  bool is_silent() const;
  /// Ends this connection, whose server does not answer, and makes another.
  void reconnect();
  /// What the last failed attempt or broken connection said, or, while ready, the last answer if
  /// that was an error: for the log and /readyz. Empty while all is well. Never a secret.
  std::string_view trouble() const;
  /// What Redis itself said the last time it gave this error; empty where it is not of its saying.
  std::string_view said(StoreError error) const;
  /// Called from the loop when is_ready() has changed or another attempt failed.
  void watch(std::function<void()> changed);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace weir::redis
