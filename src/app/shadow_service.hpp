// Reloads that are tried in shadow first: begins and ends the comparison, and answers /v1/reload.
//
// A configuration in shadow is replaced by each later reload that succeeds. Used on the server's
// thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin/endpoints.hpp"
#include "admin/reload_report.hpp"
#include "admin/shadow_reload.hpp"
#include "app/certificates.hpp"
#include "app/key_fetcher.hpp"
#include "app/running_configuration.hpp"
#include "app/shadow_request.hpp"
#include "app/shadow_run.hpp"
#include "app/workers.hpp"

namespace weir::app {

class ShadowService {
 public:
  /// All must outlive the service.
  struct Dependencies {
    boost::asio::io_context& io;  ///< the server's
    const MonotonicClock& clock;
    Workers& workers;
    /// The period of the candidate with this number is over, and it replaces the running
    /// configuration.
    std::function<void(std::uint64_t number)> passed;
  };
  explicit ShadowService(Dependencies dependencies);
  ShadowService(const ShadowService&) = delete;
  ShadowService& operator=(const ShadowService&) = delete;

  /// Decides the candidate in shadow from now on, in place of an earlier one. `certificates`: of
  /// the candidate. `begun` is called when every worker copies its requests. Returns the end of the
  /// period. Throws if the comparison cannot be started; an earlier candidate then stays.
  Instant begin(const std::string& origin, ShadowRun::Candidate candidate,
                const Certificates& certificates, const ShadowTerms& terms,
                std::function<void()> begun);
  /// The candidate with this number; empty if it is not the present one.
  std::optional<LoadedConfig> candidate(std::uint64_t number) const;
  /// A reload has succeeded. `number`: of the candidate that it has applied; 0: it is another one.
  void note_applied(const std::string& origin, std::uint64_t number);
  /// The candidate could not be applied after all, for this reason.
  void note_rejected(const std::string& reason);
  /// As Workers::drop_unread().
  void drop_unread(std::shared_ptr<const void> content);
  void stop();

  const admin::ShadowReload& shown() const { return shown_; }

  using Reload =
      std::function<void(std::optional<ShadowTerms>, std::function<void(admin::ReloadReport)>)>;
  /// /v1/reload. `reload` is called on the server's thread.
  admin::AdminEndpoint endpoint(Reload reload);

 private:
  void judged(std::uint64_t number, offline::Judgement judgement, const std::string& problem);
  void end_run();
  void end(admin::ShadowState::Stage stage, std::string reason);
  admin::AdminAnswer report() const;

  Dependencies with_;
  admin::ShadowReload shown_;
  KeyFetchers key_fetchers_;
  std::uint64_t number_ = 0;               ///< of the latest candidate
  std::unique_ptr<ShadowRun> run_;         ///< nullptr: none is compared
  std::optional<LoadedConfig> candidate_;  ///< until it is applied or dropped
  std::vector<offline::FlippedKey> keys_;  ///< when the run ended
};

}  // namespace weir::app
