// The configuration after checking: immutable, complete (every default filled in), names resolved
// to indexes.
//
// Made by config/load.hpp; shared read-only by all workers. Each room is given its part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/secret.hpp"
#include "base/time.hpp"
#include "config/diagnostic.hpp"
#include "config/files.hpp"
#include "config/key_digests.hpp"
#include "config/key_url.hpp"
#include "config/limit_file_names.hpp"
#include "config/webhook.hpp"
#include "config/written.hpp"
#include "limiter/options.hpp"
#include "log/access_log_options.hpp"
#include "options/admin.hpp"
#include "options/proxy.hpp"
#include "options/rate_limit_service.hpp"
#include "options/redis.hpp"
#include "options/telemetry.hpp"
#include "options/upstream.hpp"

namespace weir::config {

struct MemoryStore {
  std::size_t max_keys = 1'000'000;
  friend bool operator==(const MemoryStore&, const MemoryStore&) = default;
};

enum class StoreType : std::uint8_t { memory, redis };

struct RedisStore {
  options::Redis connection;  ///< a change needs a new connection
  int breaker_failures = 5;   ///< consecutive failures that open the breaker
  Duration breaker_retry_after = std::chrono::seconds(1);     ///< until an open breaker tries again
  limiter::OnFailure on_failure = limiter::OnFailure::local;  ///< of policies that set none
  /// Instances that share the quota while each decides locally; empty: as many as use this Redis.
  std::optional<std::int64_t> replicas = 1;
  /// Percent of a quota that an instance may hold in advance; 0: none. See store/leases.hpp.
  int lease_share = 0;
  Duration lease_duration = std::chrono::milliseconds(200);
  friend bool operator==(const RedisStore&, const RedisStore&) = default;
};

/// A file that is read again when it changes.
struct DataFile {
  std::string path;
  std::string shown;  ///< the path, or its text in the configuration if that has a variable
  FileStamp stamp;    ///< of the file before it was read
};

/// An address list that is read from a file.
struct ListFile : DataFile {
  AddressList list;
};

/// A JWK set that is read from a file.
struct KeyFile : DataFile {
  std::string provider;
  std::shared_ptr<identity::ProviderState> state;  ///< of the provider: its keys
};

/// A source of plans that is read from a file.
struct PlanFile : DataFile {
  Replaceable<limiter::PlanTable> table;  ///< that of the source
  std::size_t identity = 0;               ///< index into limiter::Options::identities
};

/// A file with limits of the rate limit service. A change needs a reload: its limits are policies.
using LimitFile = DataFile;

/// Header fields with constant values: names as written, and values.
using ConstantFields = std::vector<std::pair<std::string, std::string>>;

/// The same with values that may be secrets.
using SecretFields = std::vector<std::pair<std::string, Secret>>;

/// The response to a denial as it is written: by a policy, or by the section `denied`, which has
/// the defaults of all policies. Keys that are not written are empty.
struct DenialOptions {
  std::optional<int> status{};
  std::string content_type{};
  std::vector<limiter::DenialBody> bodies{};
  ConstantFields fields{};
  friend bool operator==(const DenialOptions&, const DenialOptions&) = default;
};

/// Texts that are printed; nothing here changes how the program runs.
struct Presentation {
  Written written;                       ///< the texts shown for values from variables and files
  Positions positions;                   ///< of addresses and files
  std::vector<Diagnostic> warnings;      ///< valid settings that are probably mistakes
  std::vector<std::string> listeners{};  ///< key paths of Config::listen, if not all are `listen`
  std::string document;                  ///< the file as JSON, without secrets: document_json()
};

struct Config {
  limiter::Options limiter;
  options::Proxy proxy;
  std::vector<options::Upstream> upstreams;
  std::vector<options::Listen> listen;  ///< also those of the rate limit service
  std::optional<options::RateLimitService> rate_limit_service{};
  std::optional<options::Admin> admin;
  std::size_t workers = 1;    ///< `auto` is resolved
  Duration shutdown_delay{};  ///< goes on accepting after SIGTERM, while health checks fail
  Duration shutdown_timeout = std::chrono::seconds(30);  ///< after that
  StoreType store_type = StoreType::memory;
  MemoryStore memory;
  RedisStore redis;
  DenialOptions denied{};  ///< of policies that set no other
  log::AccessLogOptions access_log;
  std::vector<int> event_percents{};    ///< of quotas; ascending, 1 to 100; empty: no events
  std::optional<Webhook> webhook{};     ///< of the events
  std::optional<options::Otlp> otlp{};  ///< empty: nothing is exported
  std::vector<ListFile> list_files{};
  std::vector<KeyFile> key_files{};
  std::vector<KeyUrl> key_urls{};  ///< of JWT providers
  std::vector<PlanFile> plan_files{};
  std::vector<LimitFile> limit_files{};
  std::vector<LimitFileName> limit_file_names{};  ///< that `limit_files` are the files of
  KeyDigests key_digests;                         ///< to compare the file with another one
  /// Keys whose values are those of the running configuration, because a change needs a restart.
  std::vector<std::string> restart_needed{};
  Presentation presentation;

  /// Instances that each have a share of a quota while they decide locally, as far as it is
  /// written.
  std::int64_t fixed_replicas() const {
    return store_type == StoreType::redis ? redis.replicas.value_or(1) : 1;
  }

  /// The key path of a listener: `listen[0]`.
  std::string listener_path(std::size_t index) const {
    return index < presentation.listeners.size() ? presentation.listeners[index]
                                                 : "listen[" + std::to_string(index) + ']';
  }

  /// Prints values of the configuration.
  Shown shown() const { return Shown(presentation.written); }
  Shown shown_at(std::string path) const { return Shown(presentation.written, std::move(path)); }
};

}  // namespace weir::config
