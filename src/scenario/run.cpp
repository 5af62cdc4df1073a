#include "scenario/run.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>

#include "config/request_head.hpp"
#include "scenario/exchange.hpp"
#include "scenario/tokens.hpp"

namespace weir::scenario {
namespace {

using Event = offline::Instance::Event;

/// The time from the last request that carries a token of a scenario until the token expires.
constexpr Duration token_lifetime = std::chrono::hours(1);

/// The bytes of a step's requests.
struct Message {
  std::string head;
  std::string body;
};

/// As curl: POST if there is a body.
Message message_of(const Request& request) {
  Fields fields = request.fields;
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(fields,
                               [&](const auto& field) { return http::iequals(field.first, name); });
  };
  if (request.is_json && !has("content-type"))
    fields.emplace_back("content-type", "application/json");
  if (request.body && !has("content-length") && !has("transfer-encoding"))
    fields.emplace_back("content-length", std::to_string(request.body->size()));
  const std::string_view method = !request.method.empty() ? std::string_view(request.method)
                                  : request.body          ? "POST"
                                                          : "GET";
  return {
      .head = config::request_head(method, config::parse_request_url(request.url).value(), fields),
      .body = request.body.value_or(std::string())};
}

/// The configuration of a scenario, whose providers accept the tokens of the scenario.
config::Config configuration_of(const Scenario& scenario, const Tokens& tokens) {
  config::Config config = *scenario.config;
  std::vector<bool> has_joined(config.limiter.token_providers.size());
  for (const Step& step : scenario.steps) {
    for (const TokenClaims& claims : step.request.claims) {
      if (has_joined[claims.provider]) continue;
      tokens.join(config.limiter.token_providers[claims.provider]);
      has_joined[claims.provider] = true;
    }
  }
  return config;
}

/// `POST http://api/login`: without the query, which may hold an identity. `shown`: of the step.
std::string request_text(const Step& step, const config::Shown& shown) {
  if (step.override) return "override";
  const Request& request = step.request;
  std::string text = !request.method.empty() ? request.method : request.body ? "POST" : "GET";
  const std::string url = shown["request"]["url"](request.url);
  return text.append(" ").append(url, 0, url.find_first_of("?#"));
}

class Runner {
 public:
  Runner(const Scenario& scenario, const Explain& explain)
      : scenario_(scenario),
        explain_(explain),
        config_(configuration_of(scenario, tokens_)),
        instance_(config_.proxy, config_.limiter, {.max_keys = config_.memory.max_keys}),
        results_(scenario.steps.size()),
        statuses_(scenario.steps.size()) {}

  std::vector<StepResult> run() {
    for (std::size_t i = 0; i < scenario_.steps.size(); ++i) {
      const Step& step = scenario_.steps[i];
      results_[i].step = &step;
      const config::Shown shown = config::Shown(scenario_.written)["steps"][i];
      results_[i].name = shown["name"](step.name);
      results_[i].request = request_text(step, shown);
      messages_.push_back({});
      arrivals_.push({.at = scenario_.start + scenario_.steps[i].at, .step = i, .repetition = 1});
    }
    while (!arrivals_.empty()) {
      const Arrival arrival = arrivals_.top();
      arrivals_.pop();
      take_events(arrival.at);
      receive(arrival);
    }
    take_events(Instant::max());
    for (StepResult& result : results_)
      compare_statuses(result);
    return std::move(results_);
  }

 private:
  struct Arrival {
    Instant at;
    std::size_t step = 0;
    std::int64_t repetition = 1;
    /// True if it comes after the other.
    bool operator<(const Arrival& other) const {
      return std::tuple(other.at, other.step, other.repetition) < std::tuple(at, step, repetition);
    }
  };

  /// The requests of a step that got the same status.
  struct StatusCount {
    std::int64_t requests = 0;
    std::string explanation{};  ///< of the first, if the step expects numbers of them
  };

  void receive(const Arrival& arrival) {
    const Step& step = scenario_.steps[arrival.step];
    if (step.override) return put(*step.override, arrival.at);
    if (arrival.repetition == 1) prepare(arrival.step);
    if (arrival.repetition < step.repeat)
      arrivals_.push({.at = arrival.at + step.every,
                      .step = arrival.step,
                      .repetition = arrival.repetition + 1});
    const std::size_t label = take_exchange();
    Exchange& exchange = *exchanges_[label];
    exchange.begin(step, arrival.repetition, arrival.at);
    const Message& message = messages_[arrival.step];
    offline::Request& request = instance_.receive(
        {.head = message.head, .body = message.body, .peer = step.request.peer, .label = label},
        arrival.at, &exchange.trace());
    if (request.state() != offline::Request::State::waiting) return decided(request, arrival.at);
    if (exchange.leaves_at()) instance_.end_at(request, *exchange.leaves_at());
    take_events(arrival.at);
  }

  void put(const OverridePut& override, Instant now) {
    instance_.store().overrides().put(override.identity, override.entry, now,
                                      [](const store::OverrideReport&) {});
    std::erase_if(overrides_, [&](const OverridePut& one) {
      return one.identity == override.identity && one.entry.policy == override.entry.policy;
    });
    overrides_.push_back(override);
  }

  /// Makes the message of a step, with its tokens.
  void prepare(std::size_t index) {
    const Step& step = scenario_.steps[index];
    Request request = step.request;
    for (const TokenClaims& claims : request.claims)
      tokens_.add(config_.limiter.token_providers[claims.provider], claims,
                  scenario_.start + step.at, step.every * step.repeat + token_lifetime, request);
    messages_[index] = message_of(request);
  }

  void take_events(Instant until) {
    while (const auto event = instance_.next(until)) {
      if (event->kind == Event::Kind::decided) {
        decided(*event->request, event->at);
      } else {
        ends(*event->request, event->at);
      }
    }
  }

  void decided(offline::Request& request, Instant now) {
    Exchange& exchange = *exchanges_[request.label()];
    const Instant end = exchange.decided(config_, scenario_.start, request);
    if (exchange.client_leaves_before(end)) {
      exchange.client_left();
      instance_.end_at(request, *exchange.leaves_at());
    } else if (end > now) {
      instance_.end_at(request, end);
    } else {
      finish(request, now);
    }
  }

  /// A client that leaves the line for a slot has no verdict yet.
  void ends(offline::Request& request, Instant now) {
    if (request.state() == offline::Request::State::waiting) {
      Exchange& exchange = *exchanges_[request.label()];
      instance_.give_up(request, now);
      exchange.decided(config_, scenario_.start, request);
      exchange.client_left();
    }
    finish(request, now);
  }

  void finish(offline::Request& request, Instant now) {
    Exchange& exchange = *exchanges_[request.label()];
    const Step& step = exchange.step();
    const Happened happened = exchange.end(config_, instance_, request, now);
    auto all = differences(step.expect, happened);
    StepResult& result = results_[step.number - 1];
    StatusCount& same = statuses_[step.number - 1][happened.status];
    if (++same.requests == 1 && !step.expect.statuses.empty())
      same.explanation = explain(request, exchange);
    if (!all.empty() && result.failed++ == 0) {
      result.repetition = exchange.repetition();
      result.at = request.arrived_at() - scenario_.start;
      for (Difference& one : all) {
        one.expected = shown(std::move(one.expected));
        one.found = shown(std::move(one.found));
      }
      result.differences = std::move(all);
      result.explanation = explain(request, exchange);
    }
    free_.push_back(request.label());
  }

  /// The text without the values of variables, which may be secrets.
  std::string shown(std::string text) const {
    return scenario_.written.without_values(
        config_.presentation.written.without_values(std::move(text)));
  }

  std::string explain(const offline::Request& request, Exchange& exchange) {
    return explain_({.config = config_,
                     .instance = instance_,
                     .request = request,
                     .trace = exchange.trace(),
                     .overrides = overrides_});
  }

  void compare_statuses(StepResult& result) {
    const auto& expected = result.step->expect.statuses;
    if (expected.empty()) return;
    std::map<int, StatusCount>& found = statuses_[result.step->number - 1];
    std::map<int, std::int64_t> wanted(expected.begin(), expected.end());
    for (const auto& [status, unused] : found)
      wanted.try_emplace(status, 0);
    for (const auto& [status, count] : wanted) {
      const StatusCount& same = found[status];
      if (same.requests == count) continue;
      result.of_all.push_back({.what = "responses with status " + std::to_string(status),
                               .expected = std::to_string(count),
                               .found = std::to_string(same.requests)});
      if (same.requests > count && result.explanation.empty())
        result.explanation = same.explanation;
    }
  }

  std::size_t take_exchange() {
    if (free_.empty()) {
      exchanges_.push_back(std::make_unique<Exchange>());
      return exchanges_.size() - 1;
    }
    const std::size_t label = free_.back();
    free_.pop_back();
    return label;
  }

  const Scenario& scenario_;
  const Explain& explain_;
  const Tokens tokens_;
  const config::Config config_;
  offline::Instance instance_;
  std::vector<StepResult> results_;
  std::vector<std::map<int, StatusCount>> statuses_;  ///< of each step
  std::vector<Message> messages_;                     ///< of each step
  std::priority_queue<Arrival> arrivals_;
  std::vector<OverridePut> overrides_;                ///< that were put
  std::vector<std::unique_ptr<Exchange>> exchanges_;  ///< by label
  std::vector<std::uint64_t> free_;                   ///< labels
};

}  // namespace

std::vector<StepResult> run(const Scenario& scenario, const Explain& explain) {
  return Runner(scenario, explain).run();
}

}  // namespace weir::scenario
