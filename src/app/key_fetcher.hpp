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
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/key_health.hpp"
#include "app/log.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "config/key_url.hpp"
#include "fetch/call.hpp"
#include "jwt/key_set.hpp"
#include "jwt/refresh_schedule.hpp"
#include "loop/calls.hpp"
#include "tls/context.hpp"

namespace weir::app {

/// The log lines about fetching the keys of a URL: each reason of a failure once until it changes
/// or the keys are fetched again, and each problem of a set once. Pure.
class KeyReport {
 public:
  /// Problems of a set that are listed; more are counted.
  static constexpr std::size_t listed_problems = 20;

  /// `subject` begins every line: "jwt provider idp".
  void set_subject(std::string subject) { subject_ = std::move(subject); }

  /// `reason`: why the keys of `url` could not be fetched, without the URL.
  std::vector<LogLine> failed(const std::string& url, const std::string& reason, bool has_keys);
  /// The set is the one that is in use already.
  std::vector<LogLine> fetched_again();
  /// Another set replaces the one in use. `digest` identifies its text. A set without a usable key
  /// is a warning each time.
  std::vector<LogLine> fetched(const std::string& url, const jwt::ReadKeySet& set,
                               const std::string& digest);

 private:
  void add_problems(const jwt::ReadKeySet& set, std::vector<LogLine>& lines) const;
  LogLine line(LogLine::Level level, const std::string& text) const;

  std::string subject_;
  std::string failure_;               ///< logged, and not over; empty: none
  std::deque<std::string> reported_;  ///< digests of the last sets whose problems were logged
};

/// A provider with its TLS context, which https:// needs.
struct KeyTarget {
  config::KeyUrl settings;
  std::shared_ptr<const tls::ClientContext> tls{};
};

/// They outlive the fetchers.
struct KeyFetcherDependencies {
  boost::asio::io_context& io;
  const MonotonicClock& clock;
  Random& random;
  std::function<void(const LogLine&)> log;
};

/// The fetcher of one URL.
class KeyFetcher {
 public:
  KeyFetcher(const KeyFetcherDependencies& dependencies, const KeyTarget& first);
  ~KeyFetcher();
  KeyFetcher(const KeyFetcher&) = delete;
  KeyFetcher& operator=(const KeyFetcher&) = delete;

  bool is_for(const KeyTarget& target) const;
  /// True for a provider of use() with the same URL, whatever its TLS settings.
  bool serves(const KeyTarget& target) const;
  /// Takes over a provider of another fetcher of the URL: uses its keys until this one has fetched
  /// some, and publishes to the provider's earlier configurations, as use() does. Called before
  /// use().
  void inherit(const KeyFetcher& other, const std::string& provider);
  /// Publishes to these providers from now on, at once if there are keys. The previous ones get the
  /// keys too for as long as they exist, because a worker without memory for the next configuration
  /// goes on with the one it has. With different times the shortest `refresh`, the shortest
  /// `cooldown` and the longest `timeout` apply. Repeats a fetch that failed.
  void use(std::vector<KeyTarget> targets);
  /// Starts a fetch that is due. Called at each check.
  void check();

  std::shared_ptr<const admin::KeyHealth> health() const { return health_; }

 private:
  /// The keys of a provider in an earlier configuration.
  struct Earlier {
    std::string provider;
    std::weak_ptr<jwt::PublishedKeys> keys;
  };

  void start();
  void end(const Result<fetch::Answer>& answer);
  /// Returns why the answer cannot be used; empty if its keys are in use.
  std::string accept(const fetch::Answer& answer);
  void publish(std::shared_ptr<const jwt::KeySet> keys);
  void keep(const std::string& provider, const std::shared_ptr<jwt::PublishedKeys>& keys);
  bool take_unknown_key();
  void report_health();
  void log(const std::vector<LogLine>& lines) const;

  const KeyFetcherDependencies& dependencies_;
  std::vector<KeyTarget> targets_;  ///< at least one; they share URL and TLS settings
  std::vector<Earlier> earlier_;
  jwt::RefreshTimes times_;
  jwt::RefreshSchedule schedule_;
  std::shared_ptr<fetch::Call> call_;        ///< in progress
  std::shared_ptr<const jwt::KeySet> keys_;  ///< nullptr: none has been fetched
  bool are_inherited_ = false;               ///< `keys_` were fetched with other TLS settings
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

  /// Fetches for these providers from now on, instead of others. A provider whose URL stays keeps
  /// its keys, also with other TLS settings.
  void use(const std::vector<KeyTarget>& targets);
  /// Ends the fetches in progress.
  void stop();

  /// One for each provider, in the order of use().
  std::vector<admin::KeySource> health() const { return health_; }

 private:
  using Fetchers = std::vector<std::unique_ptr<KeyFetcher>>;
  KeyFetcher& fetcher_for(const KeyTarget& target, Fetchers& next);
  void inherit(KeyFetcher& fetcher, const KeyTarget& target, const Fetchers& next) const;
  void check();

  Random random_;
  const KeyFetcherDependencies dependencies_;
  Fetchers fetchers_;
  std::vector<admin::KeySource> health_;
  loop::Alarm next_check_;
};

}  // namespace weir::app
