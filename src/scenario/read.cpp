#include "scenario/read.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "app/override_request.hpp"
#include "base/rfc3339.hpp"
#include "config/document.hpp"
#include "config/table.hpp"
#include "config/values.hpp"
#include "grpc/fields.hpp"
#include "http/request_view.hpp"
#include "scenario/value_json.hpp"

namespace weir::scenario {
namespace {

using config::Cursor;
using config::Diagnostic;
using config::Key;

constexpr std::size_t most_steps = 100'000;
constexpr Instant default_start = instant_from_us(1'767'225'600'000'000);  // 2026-01-01T00:00:00Z
/// So that no step is after 2106-02-07, the last day of the memory store, which counts seconds in
/// 32 bits.
constexpr Instant latest_start = instant_from_us(3'944'678'400'000'000);  // 2095-01-01T00:00:00Z

/// A scenario while it is read.
struct Reading {
  Scenario& to;
  Problems& problems;  ///< of the configuration
  std::map<std::string, std::string> variables{};
  std::set<std::string> used{};  ///< of them, those that the configuration has
};

void read_variables(const Cursor& in, Reading& reading) {
  config::for_each_named(in, "a map of variables, such as {RATE: 10/1s}", 1'000,
                         [&](const std::string& name, const Cursor& value) {
                           config::read_text(value, reading.variables[name]);
                         });
}

void read_config(const Cursor& in, Reading& reading) {
  const auto name = in.text();
  if (!name) return;
  const std::string file = config::resolve_path(in, *name);
  const auto text = config::read_text(file, config::load_patience);
  if (!text) return in.error(in.as_written(text.error().front().message, file));
  config::Environment environment = config::process_environment(file);
  environment.variable = [&](const std::string& variable) {
    const auto found = reading.variables.find(variable);
    if (found == reading.variables.end()) return in.environment().variable(variable);
    reading.used.insert(variable);
    return std::optional(found->second);
  };
  auto loaded = config::load_text(*text, environment);
  if (loaded) {
    reading.to.config = *std::move(loaded);
  } else {
    reading.problems.push_back({.file = file, .problems = std::move(loaded).error()});
  }
  reading.to.config_file = file;
}

/// Reports variables that the configuration does not have: their names may be misspelt.
void check_variables(const Cursor& in, Reading& reading) {
  if (reading.to.config == nullptr || !in.has("variables")) return;
  const Cursor variables = in.at_key("variables");
  for (const config::Entry& entry : variables.node().entries) {
    if (reading.used.contains(entry.key)) continue;
    variables.at(entry).error("the configuration does not have ${" + entry.key +
                              "}; correct the name, or remove the variable");
  }
}

void read_start(const Cursor& in, Reading& reading) {
  const auto text = in.text();
  if (!text) return;
  const auto start = parse_rfc3339(*text);
  if (!start) return in.error_showing("expected a date and a time, such as 2026-01-01T00:00:00Z");
  if (*start < Instant{} || *start > latest_start) {
    return in.error_showing("expected a time from " + to_rfc3339(Instant{}) + " until " +
                            to_rfc3339(latest_start) +
                            ", because the memory store counts seconds in 32 bits");
  }
  reading.to.start = *start;
}

/// A step while it is read.
struct StepReading {
  const Scenario& scenario;
  Step& to;

  template <class Part>
  PartOf<Part> part(Part& of) const {
    return {.config = scenario.config.get(), .at = scenario.start + to.at, .to = of};
  }
};

/// Reads the members that PUT /v1/overrides takes.
void read_override(const Cursor& in, StepReading& reading) {
  if (!in.expect_map("an override, such as {identity: api_key, key: abc, plan: gold}")) return;
  std::string body;
  append_json(body, in);
  if (reading.scenario.config == nullptr) return;
  const config::Config& config = *reading.scenario.config;
  std::vector<std::string> names;
  for (const limiter::Policy& policy : config.limiter.policies)
    names.push_back(policy.name);
  auto put = app::read_override(body, {.config = config, .policy_names = names},
                                reading.scenario.start + reading.to.at);
  if (!put) return in.error(put.error().message);
  reading.to.override = OverridePut{.identity = put->key, .entry = std::move(put->entry)};
}

constexpr Key<StepReading> step_keys[] = {
    {.name = "name",
     .read = [](const Cursor& in, StepReading& step) { config::read_text(in, step.to.name); }},
    {.name = "at",
     .read = [](const Cursor& in,
                StepReading& step) { config::read_duration(in, step.to.at, scenario_times); }},
    {.name = "repeat",
     .read =
         [](const Cursor& in, StepReading& step) {
           config::read_integer_into(in, step.to.repeat, {1, 1'000'000});
         }},
    {.name = "every",
     .read = [](const Cursor& in,
                StepReading& step) { config::read_duration(in, step.to.every, scenario_times); }},
    {.name = "override", .read = read_override},
    {.name = "request",
     .read = [](const Cursor& in,
                StepReading& step) { read_request(in, step.part(step.to.request)); }},
    {.name = "response",
     .read = [](const Cursor& in,
                StepReading& step) { read_response(in, step.part(step.to.response)); }},
    {.name = "expect",
     .read = [](const Cursor& in,
                StepReading& step) { read_expectation(in, step.part(step.to.expect)); }},
};

bool is_grpc_call(const Request& request) {
  return std::ranges::any_of(request.fields, [](const auto& field) {
    return http::iequals(field.first, "content-type") && grpc::is_grpc(field.second);
  });
}

/// Reports a step that is neither a request nor an override, or both.
void check_step(const Cursor& in, const Step& step) {
  const bool puts = in.has("override");
  if (!in.has("request") && !puts)
    return in.error("the key \"request\" is missing" + config::hint_on_missing_key(in, "request"));
  for (const std::string_view key : {"request", "response", "expect", "repeat", "every"}) {
    if (puts && in.has(key))
      in.at_key(key).error("a step with override has no request; write another step");
  }
  if (!puts && in.has("every") && !in.has("repeat"))
    in.at_key("every").error("there is only one request; add \"repeat\", or remove \"every\"");
  if (step.response.until && *step.response.until < step.at) {
    in.at_key("response")
        .at_key("until")
        .error("the response would be complete before its request at " +
               config::format_duration(step.at) +
               ": \"until\" counts from the start of the scenario, and \"after\" from the request");
  }
  // A service may send grpc-status to any request, but Weir sends it to calls only.
  if (step.expect.grpc_status && !step.response.grpc_status && !is_grpc_call(step.request)) {
    in.at_key("expect")
        .at_key("grpc_status")
        .error(
            "the request is not a gRPC call; add \"content-type: application/grpc\" to its "
            "headers");
  }
  if (step.repeat > 1 && step.every > scenario_times.max / step.repeat)
    in.at_key("every").error("the last request would be later than " +
                             config::format_duration(scenario_times.max) +
                             "; lower \"every\" or \"repeat\"");
}

void read_steps(const Cursor& in, Reading& reading) {
  Duration at{0};
  config::for_each_item(in, "a list of steps", most_steps, [&](const Cursor& item) {
    Step step;
    step.number = reading.to.steps.size() + 1;
    step.line = item.node().position.line;
    step.at = at;  // without `at`, that of the step before
    StepReading step_reading{.scenario = reading.to, .to = step};
    if (config::read_table(item, step_keys, step_reading)) check_step(item, step);
    at = step.at;
    reading.to.steps.push_back(std::move(step));
  });
}

// The order in which they are read: the variables before the configuration, and that before names
// of it.
constexpr Key<Reading> scenario_keys[] = {
    {.name = "variables", .read = read_variables},
    {.name = "config", .read = read_config, .required = true, .then = check_variables},
    {.name = "start", .read = read_start},
    {.name = "steps", .read = read_steps, .required = true},
};

/// Reports a scenario that cannot fail: its author has forgotten the expectations, or misplaced
/// them.
void check_expectations(const Cursor& in, const Scenario& scenario) {
  if (std::ranges::any_of(scenario.steps, &Step::is_checked)) return;
  in.at_key("steps").error(
      "no step expects anything, so nothing is checked; add to a step, such as "
      "expect: {status: 200}");
}

std::vector<Diagnostic> in_order(std::vector<Diagnostic> problems) {
  std::ranges::stable_sort(problems, {},
                           [](const Diagnostic& one) { return std::pair(one.line, one.column); });
  return problems;
}

}  // namespace

void throw_exception_from_error(const Problems& problems, const boost::source_location&) {
  throw std::runtime_error(problems.empty() || problems.front().problems.empty()
                               ? "scenario error"
                               : problems.front().problems.front().to_string());
}

Result<Scenario, Problems> read_text(std::string_view yaml, const std::string& file,
                                     const config::Environment& environment) {
  config::Environment own = environment;
  own.kind = "test";
  config::Loading loading{.environment = own,
                          .written = {},
                          .files = {},
                          .secrets = {},
                          .problems = {},
                          .warnings = {}};
  Scenario scenario;
  scenario.start = default_start;
  Problems problems;
  const auto root = config::parse_document(yaml, loading.problems);
  if (!root && loading.problems.empty())
    loading.problems.push_back(config::diagnostic_at({}, "the file is empty"));
  if (root) {
    Reading reading{.to = scenario, .problems = problems};
    const Cursor document(loading, *root, {});
    config::read_table(document, scenario_keys, reading);
    if (loading.problems.empty() && problems.empty()) check_expectations(document, scenario);
  }
  if (!loading.problems.empty())
    problems.insert(problems.begin(),
                    {.file = file, .problems = in_order(std::move(loading.problems))});
  if (!problems.empty()) return problems;
  scenario.written = std::move(loading.written);
  return scenario;
}

Result<Scenario, Problems> read_file(const std::filesystem::path& file) {
  const auto text = config::read_text(file);
  if (!text) return Problems{{.file = file.string(), .problems = text.error()}};
  return read_text(*text, file.string(), config::process_environment(file));
}

}  // namespace weir::scenario
