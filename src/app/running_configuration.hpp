// The configuration that the process runs, on the server's thread: what the workers use of it, and
// what a replacement keeps.
//
// A replacement has two steps. prepare() does everything that can fail and changes nothing;
// commit() cannot fail.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/carried_over.hpp"
#include "app/certificates.hpp"
#include "app/key_fetcher.hpp"
#include "app/listeners.hpp"
#include "app/source.hpp"
#include "app/webhook.hpp"
#include "app/worker.hpp"
#include "config/config.hpp"
#include "log/line_writer.hpp"
#include "proxy/generation.hpp"

namespace weir::app {

using Problems = std::vector<config::Diagnostic>;

/// More changed keys than these are counted and not listed.
inline constexpr std::size_t listed_changes = 100;

/// The JWT providers of a configuration whose keys are fetched.
std::vector<KeyTarget> key_targets_of(const config::Config& config,
                                      const Certificates& certificates);

class RunningConfiguration {
 public:
  /// A configuration that can be run.
  struct Prepared {
    LoadedConfig loaded{};
    std::shared_ptr<const decision::RequestRules> request_rules{};
    std::shared_ptr<const rls::DescriptorRules> descriptor_rules{};
    Certificates certificates{};
    std::shared_ptr<log::LineWriter> log_writer{};
    Listeners::Prepared listeners{};     ///< until commit()
    std::vector<std::string> changed{};  ///< keys, the first ones if they are many
    std::size_t changed_omitted = 0;     ///< how many more there are
  };

  /// `descriptors`: how many the process may have.
  explicit RunningConfiguration(std::size_t descriptors) : descriptors_(descriptors) {}

  /// Checks what prepare() does, except the addresses, which may be free or in use later. Returns
  /// the certificates, or every problem.
  Result<Certificates, Problems> check(const config::Config& next) const;
  /// Opens what is new, or returns every problem and leaves nothing behind.
  /// `loaded`: with the running configuration as its Environment::running.
  Result<Prepared, Problems> prepare(LoadedConfig loaded);
  /// Returns a plan for each worker.
  std::vector<GenerationPlan> commit(Prepared prepared);
  /// Drops what only earlier configurations used; true if exchanges still use some of it.
  bool drop_unused();

  /// nullptr before the first commit().
  const std::shared_ptr<const config::Config>& config() const { return running_.loaded.config; }
  const std::string& hash() const { return running_.loaded.hash; }
  std::int64_t loaded_at_s() const { return loaded_at_s_; }  ///< Unix time
  const std::shared_ptr<log::LineWriter>& log_writer() const { return running_.log_writer; }
  /// Opens the file of the access log again. If that fails, logs the reason and keeps the old file.
  void reopen_log() const;
  /// The JWT providers whose keys are fetched.
  std::vector<KeyTarget> key_targets() const;
  /// The TLS context for config()->otlp.
  const std::shared_ptr<const tls::ClientContext>& otlp_tls() const {
    return running_.certificates.otlp;
  }
  /// The receiver of events.
  std::optional<WebhookTarget> webhook_target() const;
  /// By id, of all policies since the start.
  const std::vector<std::string>& policy_names() const { return policies_.names(); }
  /// The ids of the policies, in the order of the configuration.
  const std::vector<std::uint32_t>& policy_ids() const { return policy_ids_; }
  /// By id, of all routes and identities since the start.
  const std::vector<std::string>& route_names() const { return routes_.names(); }
  const std::vector<std::string>& identity_names() const { return identities_.names(); }
  const std::vector<WorkerCounters>& counters() const { return counters_; }  ///< one a worker

 private:
  bool is_running() const { return config() != nullptr; }
  std::vector<std::string> changes(const LoadedCertificates& next) const;
  Result<std::shared_ptr<log::LineWriter>> open_log(const config::Config& next) const;
  Certificates load_certificates_of(const config::Config& next, Problems& problems) const;
  Result<std::shared_ptr<log::LineWriter>> open_parts(const config::Config& next,
                                                      Problems& problems) const;

  std::size_t descriptors_;
  Prepared running_;
  Listeners listeners_;
  PolicyRegistry policies_;
  std::vector<std::uint32_t> policy_ids_;
  NameRegistry routes_;
  NameRegistry identities_;
  std::vector<WorkerCounters> counters_;
  std::int64_t loaded_at_s_ = 0;
  // Workers may still use these; they are freed by this thread and not by theirs.
  std::vector<std::shared_ptr<const decision::RequestRules>> old_request_rules_;
  std::vector<std::shared_ptr<log::LineWriter>> old_log_writers_;
};

/// The admin server's address after a reload.
struct NextAdmin {
  bool has_changed = false;
  std::optional<loop::BoundAddress> bound{};  ///< none: the admin server is off
};
NextAdmin take_admin(RunningConfiguration::Prepared& prepared);

}  // namespace weir::app
