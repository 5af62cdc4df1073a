// The configuration after checking: immutable, complete (every default filled in), names resolved
// to indexes.
//
// Made by config/load.hpp; shared read-only by all workers. Each room uses its part:
// limiter::Settings, proxy::Settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/options.hpp"
#include "base/time.hpp"
#include "config/denial_settings.hpp"
#include "config/diagnostic.hpp"
#include "config/file_stamp.hpp"
#include "config/key_url.hpp"
#include "config/positions.hpp"
#include "config/written.hpp"
#include "log/access_log_options.hpp"
#include "proxy/settings.hpp"
#include "redis/options.hpp"

namespace weir::config {

struct MemoryStore {
  std::size_t max_keys = 1'000'000;
  friend bool operator==(const MemoryStore&, const MemoryStore&) = default;
};

enum class StoreType : std::uint8_t { memory, redis };

/// The members of its own apply to the running connection.
struct RedisStore : redis::Options {
  int breaker_failures = 5;  ///< consecutive failures that open the breaker
  Duration breaker_retry_after = std::chrono::seconds(1);     ///< until an open breaker tries again
  limiter::OnFailure on_failure = limiter::OnFailure::local;  ///< of policies that set none
  std::int64_t replicas = 1;  ///< instances that share the quota while each decides locally
  friend bool operator==(const RedisStore&, const RedisStore&) = default;
};

/// An address list that is read from a file.
struct ListFile {
  AddressList list;
  std::string path;
  std::string shown;  ///< the path, or its text in the configuration if that has a variable
  FileStamp stamp;    ///< of the file before it was read
};

/// A JWK set that is read from a file.
struct KeyFile {
  std::string provider;
  std::shared_ptr<identity::ProviderState> state;  ///< of the provider: its keys
  std::string path;
  std::string shown;  ///< as in ListFile
  FileStamp stamp;    ///< of the file before it was read
};

/// A source of plans that is read from a file.
struct PlanFile {
  Replaceable<limiter::PlanTable> table;  ///< that of the source
  std::size_t identity = 0;               ///< index into Settings::identities
  std::string path;
  std::string shown;  ///< as in ListFile
  FileStamp stamp;    ///< of the file before it was read
};

struct Config : proxy::Settings {
  std::vector<proxy::Listen> listen;
  std::optional<admin::Options> admin;
  std::size_t workers = 1;  ///< `auto` is resolved
  Duration shutdown_timeout = std::chrono::seconds(30);
  StoreType store_type = StoreType::memory;
  MemoryStore memory;
  RedisStore redis;
  DenialSettings denied{};  ///< of policies that set no other
  log::AccessLogOptions access_log;
  std::vector<ListFile> list_files{};
  std::vector<KeyFile> key_files{};
  std::vector<KeyUrl> key_urls{};  ///< of JWT providers
  std::vector<PlanFile> plan_files{};
  Written written;                   ///< the texts shown for values from variables and files
  Positions positions;               ///< of addresses and files
  std::vector<Diagnostic> warnings;  ///< valid settings that are probably mistakes
};

}  // namespace weir::config
