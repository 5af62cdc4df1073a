// Fetches the keys of the JWT providers that have a URL, on the server's loop and never for a
// request: one fetcher per URL and TLS settings in the process, whatever the number of providers,
// workers and reloads.
//
// While fetching fails, the keys fetched before stay in use. A set that has changed is read on this
// thread, which may take tens of milliseconds, and replaces the keys of every provider with the
// URL. A set without a usable key does so too, because a key that the issuer removes must stop
// working. Not thread-safe: one loop; the workers use the keys meanwhile.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "admin/key_health.hpp"
#include "app/key_report.hpp"
#include "app/log_line.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "config/key_url.hpp"
#include "fetch/get.hpp"
#include "jwt/refresh_schedule.hpp"
#include "tls/context.hpp"

namespace weir::app {

/// A provider with its TLS context, which https:// needs.
struct KeyTarget {
  config::KeyUrl settings;
  std::shared_ptr<const tls::ClientContext> tls{};
};

/// The surroundings of fetchers, which outlive them.
struct KeyFetching {
  boost::asio::io_context& io;
  const MonotonicClock& clock;
  Random& random;
  std::function<void(const LogLine&)> log;
};

/// The fetcher of one URL.
class KeyFetcher {
 public:
  KeyFetcher(const KeyFetching& with, const KeyTarget& first);
  ~KeyFetcher();
  KeyFetcher(const KeyFetcher&) = delete;
  KeyFetcher& operator=(const KeyFetcher&) = delete;

  bool is_for(const KeyTarget& target) const;
  /// Publishes to these providers from now on, at once if there are keys. With different times the
  /// shortest `refresh`, the shortest `cooldown` and the longest `timeout` apply. Repeats a fetch
  /// that failed.
  void use(std::vector<KeyTarget> targets);
  /// Starts a fetch that is due. Called at each check.
  void check();

  std::shared_ptr<const admin::KeyHealth> health() const { return health_; }

 private:
  void start();
  void end(const Result<fetch::Answer>& answer);
  /// Returns why the answer cannot be used; empty if its keys are in use.
  std::string accept(const fetch::Answer& answer);
  void publish(std::shared_ptr<const jwt::KeySet> keys);
  bool take_unknown_key();
  void report_health();
  void log(const std::vector<LogLine>& lines) const;

  const KeyFetching& with_;
  std::vector<KeyTarget> targets_;  ///< at least one; they share URL and TLS settings
  jwt::RefreshTimes times_;
  jwt::RefreshSchedule schedule_;
  std::shared_ptr<fetch::Get> get_;          ///< in progress
  std::shared_ptr<const jwt::KeySet> keys_;  ///< nullptr: none has been fetched
  std::string digest_;                       ///< of the text of `keys_`
  std::optional<Instant> fetched_at_;
  std::string failure_;  ///< of the last fetch; empty: it succeeded
  KeyReport report_;
  std::shared_ptr<admin::KeyHealth> health_ = std::make_shared<admin::KeyHealth>();
};

/// The fetchers of the running configuration.
class KeyFetchers {
 public:
  /// From one check for unknown keys and fetches that are due to the next.
  static constexpr std::chrono::milliseconds check_interval{250};

  KeyFetchers(boost::asio::io_context& io, const MonotonicClock& clock, std::uint64_t seed,
              std::function<void(const LogLine&)> log);

  /// Fetches for these providers from now on, instead of others. A URL that stays keeps its keys.
  void use(const std::vector<KeyTarget>& targets);
  /// Ends the fetches in progress.
  void stop();

  /// One for each provider, in the order of use().
  std::vector<admin::KeySource> health() const { return health_; }

 private:
  KeyFetcher& fetcher_for(const KeyTarget& target, std::vector<std::unique_ptr<KeyFetcher>>& next);
  void check();

  Random random_;
  const KeyFetching with_;
  std::vector<std::unique_ptr<KeyFetcher>> fetchers_;
  std::vector<admin::KeySource> health_;
  boost::asio::steady_timer timer_;
};

}  // namespace weir::app
