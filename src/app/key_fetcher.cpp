#include "app/key_fetcher.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "tls/digest.hpp"

namespace weir::app {
namespace {

using Level = LogLine::Level;

/// An issuer whose servers have different sets for a while must not fill the log.
constexpr std::size_t remembered_sets = 16;

std::string count_of_keys(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " key" : " keys");
}

std::string subject_of(const std::vector<KeyTarget>& targets) {
  std::string text = targets.size() == 1 ? "jwt provider " : "jwt providers ";
  for (const KeyTarget& target : targets) {
    if (&target != &targets.front()) text += ", ";
    text += target.settings.provider;
  }
  return text;
}

std::string why_not_usable(int status) {
  const std::string text = "it answered " + std::to_string(status);
  const bool is_redirect = status >= 300 && status <= 399 && status != 304;
  return is_redirect ? text + "; redirects are not followed, so set the URL that it leads to"
                     : text;
}

}  // namespace

LogLine KeyReport::line(LogLine::Level level, const std::string& text) const {
  return {level, subject_ + ": " + text};
}

std::vector<LogLine> KeyReport::failed(const std::string& url, const std::string& reason,
                                       bool has_keys) {
  if (failure_ == reason) return {};
  failure_ = reason;
  return {line(Level::warning,
               "cannot fetch the keys from " + url + ": " + reason +
                   (has_keys ? "; the keys fetched before stay in use"
                             : "; tokens cannot be verified until the keys have been fetched"))};
}

std::vector<LogLine> KeyReport::fetched_again() {
  if (failure_.empty()) return {};
  failure_.clear();
  return {line(Level::info, "the keys can be fetched again")};
}

std::vector<LogLine> KeyReport::fetched(const std::string& url, const jwt::ReadKeySet& set,
                                        const std::string& digest) {
  failure_.clear();
  std::vector<LogLine> lines{
      line(Level::info, "fetched " + count_of_keys(set.keys.size()) + " from " + url)};
  if (std::ranges::find(reported_, digest) == reported_.end()) {
    reported_.push_back(digest);
    if (reported_.size() > remembered_sets) reported_.pop_front();
    add_problems(set, lines);
  }
  if (set.keys.size() == 0)
    lines.push_back(line(Level::warning, "the set has no usable key; every token is rejected"));
  return lines;
}

void KeyReport::add_problems(const jwt::ReadKeySet& set, std::vector<LogLine>& lines) const {
  const std::size_t listed = std::min(set.problems.size(), listed_problems);
  for (std::size_t i = 0; i < listed; ++i)
    lines.push_back(line(Level::warning, set.problems[i]));
  if (listed < set.problems.size()) {
    lines.push_back(line(Level::warning, "and " + std::to_string(set.problems.size() - listed) +
                                             " more problems of the set"));
  }
}

KeyFetcher::KeyFetcher(const KeyFetcherDependencies& dependencies, const KeyTarget& first)
    : dependencies_(dependencies),
      targets_({first}),
      times_(first.settings.times),
      schedule_(times_, dependencies.clock.now()) {}

KeyFetcher::~KeyFetcher() {
  if (call_) call_->cancel();
}

bool KeyFetcher::is_for(const KeyTarget& target) const {
  const config::KeyUrl& ours = targets_.front().settings;
  return ours.url == target.settings.url && ours.tls == target.settings.tls;
}

bool KeyFetcher::serves(const KeyTarget& target) const {
  return std::ranges::any_of(targets_, [&](const KeyTarget& one) {
    return one.settings.provider == target.settings.provider &&
           one.settings.url == target.settings.url;
  });
}

void KeyFetcher::inherit(const KeyFetcher& other, const std::string& provider) {
  for (const Earlier& one : other.earlier_) {
    if (one.provider == provider) keep(provider, one.keys.lock());
  }
  for (const KeyTarget& one : other.targets_) {
    if (one.settings.provider == provider) keep(provider, one.settings.keys);
  }
  if (keys_ || !other.keys_) return;
  keys_ = other.keys_;
  digest_ = other.digest_;
  fetched_at_ = other.fetched_at_;
  are_inherited_ = true;
  schedule_.inherit_keys();
}

/// Publishes to keys of an earlier configuration while they exist.
void KeyFetcher::keep(const std::string& provider,
                      const std::shared_ptr<jwt::PublishedKeys>& keys) {
  std::erase_if(earlier_, [](const Earlier& one) { return one.keys.expired(); });
  const bool is_known =
      std::ranges::any_of(earlier_, [&](const auto& one) { return one.keys.lock() == keys; }) ||
      std::ranges::any_of(targets_, [&](const auto& one) { return one.settings.keys == keys; });
  if (keys && !is_known) earlier_.push_back({provider, keys});
}

void KeyFetcher::use(std::vector<KeyTarget> targets) {
  targets_.swap(targets);
  for (const KeyTarget& before : targets)
    keep(before.settings.provider, before.settings.keys);
  times_ = targets_.front().settings.times;
  for (const KeyTarget& target : targets_) {
    times_.refresh = std::min(times_.refresh, target.settings.times.refresh);
    times_.cooldown = std::min(times_.cooldown, target.settings.times.cooldown);
  }
  report_.set_subject(subject_of(targets_));
  schedule_.set(times_);
  schedule_.retry_now(dependencies_.clock.now());
  if (keys_) publish(keys_);
  check();
}

void KeyFetcher::check() {
  if (take_unknown_key()) schedule_.note_unknown_key();
  if (schedule_.start_if_due(dependencies_.clock.now())) start();
  report_health();
}

/// Takes the notes of all providers, also in earlier configurations.
bool KeyFetcher::take_unknown_key() {
  bool is_unknown = false;
  for (const KeyTarget& target : targets_)
    is_unknown |= target.settings.keys->take_unknown_key();
  for (const Earlier& one : earlier_) {
    if (const auto keys = one.keys.lock()) is_unknown |= keys->take_unknown_key();
  }
  return is_unknown;
}

void KeyFetcher::start() {
  Duration timeout{};
  for (const KeyTarget& target : targets_)
    timeout = std::max(timeout, target.settings.timeout);
  fetch::Request request{.url = targets_.front().settings.url,
                         .accept = "application/jwk-set+json, application/json",
                         .tls = targets_.front().tls,
                         .timeout = timeout,
                         .most_body = jwt::largest_key_set};
  call_ = fetch::Call::start(dependencies_.io, std::move(request),
                             [this](const Result<fetch::Answer>& answer) { end(answer); });
}

void KeyFetcher::end(const Result<fetch::Answer>& answer) {
  call_.reset();
  try {
    failure_ = answer ? accept(*answer) : answer.error().message;
  } catch (const std::exception& thrown) {  // no memory; a later fetch tries again
    failure_ = thrown.what();
  }
  const Instant now = dependencies_.clock.now();
  if (failure_.empty()) {
    health_->ok.add();
    fetched_at_ = now;
    are_inherited_ = false;
    take_unknown_key();
    schedule_.succeeded(now, answer->fresh_for, dependencies_.random.next());
  } else {
    health_->failed.add();
    schedule_.failed(now, dependencies_.random.next());
    log(report_.failed(targets_.front().settings.shown, failure_, keys_ != nullptr));
  }
  report_health();
}

std::string KeyFetcher::accept(const fetch::Answer& answer) {
  if (answer.status != 200) return why_not_usable(answer.status);
  std::string digest = tls::sha256_hex(answer.body);
  if (keys_ && digest == digest_) {
    log(report_.fetched_again());
    return {};
  }
  Result<jwt::ReadKeySet> set = jwt::read_key_set(answer.body, jwt::KeyOrigin::published);
  if (!set) return "its answer cannot be used: " + set.error().message;
  log(report_.fetched(targets_.front().settings.shown, *set, digest));
  publish(std::make_shared<const jwt::KeySet>(std::move(set->keys)));
  digest_ = std::move(digest);
  return {};
}

void KeyFetcher::publish(std::shared_ptr<const jwt::KeySet> keys) {
  keys_ = std::move(keys);
  for (const KeyTarget& target : targets_)
    target.settings.keys->publish(keys_);
  for (const Earlier& one : earlier_) {
    if (const auto in_use = one.keys.lock()) in_use->publish(keys_);
  }
}

void KeyFetcher::report_health() {
  if (!fetched_at_)
    return health_->set({}, failure_.empty() ? "" : "no keys have been fetched: " + failure_);
  const auto age =
      std::chrono::floor<std::chrono::seconds>(dependencies_.clock.now() - *fetched_at_);
  std::string degraded;
  if (keys_->size() == 0) {
    degraded = "the set has no usable key; every token is rejected";
  } else if (!failure_.empty() && are_inherited_) {
    degraded = "no keys have been fetched since jwks.tls changed: " + failure_;
  } else if (!failure_.empty()) {
    degraded =
        "the keys fetched " + std::to_string(age.count()) + " s ago stay in use: " + failure_;
  }
  health_->set(age, std::move(degraded));
}

void KeyFetcher::log(const std::vector<LogLine>& lines) const {
  std::ranges::for_each(lines, dependencies_.log);
}

KeyFetchers::KeyFetchers(boost::asio::io_context& io, const MonotonicClock& clock,
                         std::uint64_t seed, std::function<void(const LogLine&)> log)
    : random_(seed),
      dependencies_{.io = io, .clock = clock, .random = random_, .log = std::move(log)},
      next_check_(io) {}

/// The fetcher of `next` for the target, or one that is running, or a new one, which is then in
/// `next`.
KeyFetcher& KeyFetchers::fetcher_for(const KeyTarget& target, Fetchers& next) {
  const auto is_for = [&](const auto& fetcher) { return fetcher && fetcher->is_for(target); };
  if (const auto found = std::ranges::find_if(next, is_for); found != next.end()) return **found;
  const auto running = std::ranges::find_if(fetchers_, is_for);
  next.push_back(running != fetchers_.end() ? std::move(*running)
                                            : std::make_unique<KeyFetcher>(dependencies_, target));
  return *next.back();
}

/// Another fetcher that has served the provider is running, or in `next` because others go on with
/// it.
void KeyFetchers::inherit(KeyFetcher& fetcher, const KeyTarget& target,
                          const Fetchers& next) const {
  for (const Fetchers* const list : {&fetchers_, &next}) {
    for (const auto& other : *list) {
      if (other && other.get() != &fetcher && other->serves(target))
        fetcher.inherit(*other, target.settings.provider);
    }
  }
}

void KeyFetchers::use(const std::vector<KeyTarget>& targets) {
  Fetchers next;
  std::vector<std::pair<KeyFetcher*, std::vector<KeyTarget>>> groups;
  health_.clear();
  for (const KeyTarget& target : targets) {
    KeyFetcher& fetcher = fetcher_for(target, next);
    inherit(fetcher, target, next);
    health_.push_back({target.settings.provider, fetcher.health()});
    const auto group =
        std::ranges::find(groups, &fetcher, [](const auto& one) { return one.first; });
    if (group != groups.end()) {
      group->second.push_back(target);
    } else {
      groups.push_back({&fetcher, {target}});
    }
  }
  fetchers_ = std::move(next);
  for (auto& [fetcher, group] : groups)
    fetcher->use(std::move(group));
  next_check_.cancel();
  if (!fetchers_.empty()) check();
}

void KeyFetchers::stop() {
  fetchers_.clear();
  next_check_.cancel();
}

void KeyFetchers::check() {
  for (const auto& fetcher : fetchers_)
    fetcher->check();
  next_check_.set(check_interval, [this] { check(); });
}

}  // namespace weir::app
