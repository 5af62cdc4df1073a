#include "app/shadow_service.hpp"

#include <chrono>
#include <utility>

#include "app/log.hpp"
#include "app/reload_log.hpp"
#include "base/random.hpp"
#include "base/rfc3339.hpp"
#include "json/write.hpp"
#include "loop/calls.hpp"

namespace weir::app {
namespace {

using Stage = admin::ShadowState::Stage;
using offline::Judgement;

constexpr std::size_t shown_keys = 10;
/// Numbers of requests are unique: up to 2^16 candidates, 2^8 workers and 2^40 requests of each.
constexpr unsigned candidate_bits = 48;
constexpr unsigned worker_bits = 40;

TrafficCopies copies_for(std::size_t workers, std::uint64_t number) {
  TrafficCopies copies;
  for (std::uint64_t worker = 0; worker < workers; ++worker) {
    copies.push_back(std::make_shared<decision::TrafficCopy>((number << candidate_bits) +
                                                             (worker << worker_bits) + 1));
  }
  return copies;
}

constexpr const char* too_few_compared =
    "more requests were skipped than compared; try again for a longer time, or reload without "
    "shadow";

/// `3 of 12,345 decisions would have flipped`.
std::string flips_text(const admin::ShadowState& state) {
  std::string text = with_commas(state.flips) + " of " + with_commas(state.decisions) +
                     " decisions would have flipped";
  if (state.skipped > 0) text += " (" + with_commas(state.skipped) + " were not compared)";
  return text;
}

std::string key_json(const offline::FlippedKey& key) {
  return json::Object()
      .text("hash", to_hex(key.hash))
      .text("identity", key.identity)
      .text("policy", key.policy)
      .text("candidate", key.is_denied ? "denied" : "admitted")
      .number("flips", static_cast<std::int64_t>(key.flips))
      .number("error", static_cast<std::int64_t>(key.error))
      .str();
}

/// The running configuration's fetcher logs the same problems.
void log_problem_of_keys(const LogLine& line) {
  if (line.level != LogLine::Level::info) log_warning({"shadow reload: ", line.text});
}

}  // namespace

ShadowService::ShadowService(Dependencies dependencies)
    : with_(std::move(dependencies)),
      key_fetchers_(with_.io, with_.clock, random_seed(), log_problem_of_keys) {}

Instant ShadowService::begin(const std::string& origin, ShadowRun::Candidate candidate,
                             const Certificates& certificates, const ShadowTerms& terms,
                             std::function<void()> begun) {
  const std::uint64_t number = number_ + 1;
  const LoadedConfig loaded = candidate.loaded;
  const offline::ReloadGuard guard{
      .begun_at = with_.clock.now(), .shadow = terms.period, .max_flips = terms.max_flips};
  const TrafficCopies copies = copies_for(with_.workers.all().size(), number);
  const auto judged = [this, number](Judgement judgement, std::string problem) {
    loop::post(with_.io, [this, number, judgement, problem = std::move(problem)] {
      this->judged(number, judgement, problem);
    });
  };
  auto run = std::make_unique<ShadowRun>(
      ShadowRun::Dependencies{.clock = with_.clock, .shown = shown_, .judged = judged},
      std::move(candidate), guard, copies, random_seed());
  if (candidate_) note_applied(origin, 0);
  key_fetchers_.use(key_targets_of(*loaded.config, certificates));
  number_ = number;
  run_ = std::move(run);
  run_->begin();
  candidate_ = loaded;
  keys_.clear();
  log_info({origin, ": the configuration ", loaded.hash.substr(0, 12), " decides in shadow until ",
            to_rfc3339(std::chrono::ceil<std::chrono::seconds>(guard.until())),
            " and replaces the running one if at most ", admin::percent_text(terms.max_flips),
            " of the decisions flip"});
  with_.workers.copy_traffic(copies, std::move(begun));
  return guard.until();
}

std::optional<LoadedConfig> ShadowService::candidate(std::uint64_t number) const {
  return number == number_ ? candidate_ : std::nullopt;
}

void ShadowService::judged(std::uint64_t number, Judgement judgement, const std::string& problem) {
  if (number != number_ || !run_) return;
  end_run();
  const admin::ShadowState state = shown_.state();
  if (judgement == Judgement::passed) {
    log_info({"shadow reload: ", flips_text(state), "; applying the configuration"});
    return with_.passed(number);
  }
  if (!problem.empty()) return note_rejected("the comparison failed: " + problem);
  if (judgement == Judgement::not_compared)
    return note_rejected(flips_text(state) + "; " + too_few_compared);
  log_warning({"shadow reload: ", flips_text(state), ", more than ",
               admin::percent_text(state.max_flips),
               "; the running configuration stays, and GET /v1/reload lists the keys"});
  shown_.dropped.add();
  end(Stage::dropped, "more than max_flips of the decisions would have flipped");
}

void ShadowService::note_applied(const std::string& origin, std::uint64_t number) {
  if (!candidate_) return;
  end_run();
  if (number == number_) {
    shown_.done.add();
    return end(Stage::done, {});
  }
  log_info({"shadow reload: replaced by ", origin, "; ", flips_text(shown_.state())});
  shown_.replaced.add();
  end(Stage::dropped, "replaced by another reload");
}

void ShadowService::note_rejected(const std::string& reason) {
  log_error({"shadow reload: the running configuration stays: ", reason});
  shown_.dropped.add();
  end(Stage::dropped, reason);
}

void ShadowService::drop_unread(std::shared_ptr<const void> content) {
  if (run_) run_->drop_unread(std::move(content));
}

void ShadowService::stop() {
  key_fetchers_.stop();
  run_.reset();
  candidate_.reset();
}

/// Ends the comparison. Its result is kept.
void ShadowService::end_run() {
  if (!run_) return;
  with_.workers.copy_traffic({}, [] {});
  key_fetchers_.stop();
  keys_ = run_->top_keys(shown_keys);
  run_.reset();
}

void ShadowService::end(Stage stage, std::string reason) {
  candidate_.reset();
  admin::ShadowState state = shown_.state();
  state.stage = stage;
  state.reason = std::move(reason);
  shown_.set(std::move(state));
}

admin::AdminEndpoint ShadowService::endpoint(Reload reload) {
  const auto handle = [this, reload = std::move(reload)](const admin::AdminCall& call,
                                                         const admin::Reply& reply) {
    if (call.method != admin::AdminCall::Method::post) return reply(report());
    const auto terms = read_reload_query(call.query);
    if (!terms) return reply(admin::problem_answer(400, terms.error().message));
    reload(*terms,
           [reply](const admin::ReloadReport& report) { reply(admin::reload_answer(report)); });
  };
  return {.path = "/v1/reload",
          .methods = "GET, HEAD, POST",
          .handle =
              [this, handle](admin::AdminCall call, const admin::Instruments&, admin::Reply reply) {
                loop::post(with_.io, [handle, call = std::move(call), reply = std::move(reply)] {
                  handle(call, reply);
                });
              },
          .parameters = {"POST", reload_parameters}};
}

admin::AdminAnswer ShadowService::report() const {
  json::Object body;
  const admin::ShadowState state = shown_.state();
  admin::add_members(body, state);
  if (state.stage != Stage::none) {
    std::vector<std::string> keys;
    for (const auto& key : run_ ? run_->top_keys(shown_keys) : keys_)
      keys.push_back(key_json(key));
    body.json("keys", json::list_of(keys));
  }
  return {.content_type = "application/json", .body = body.str() + '\n'};
}

}  // namespace weir::app
