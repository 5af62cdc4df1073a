#include "cli/live_state.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "http/characters.hpp"

namespace weir::cli {
namespace {

using LiveJson = nlohmann::json;

/// The library throws if it is not a number of seconds; longer ones than Weir has are limited.
Duration duration_in(const LiveJson& seconds) {
  constexpr double most_us = 9e15;
  const double us = std::clamp(seconds.get<double>() * 1e6, 0.0, most_us);
  return Duration{static_cast<std::int64_t>(std::llround(us))};
}

std::string text_in(const LiveJson& object, const char* name) {
  auto text = object.at(name).get<std::string>();
  std::replace_if(text.begin(), text.end(), http::is_control, '?');
  return text;
}

}  // namespace

std::optional<LiveState> read_live_state(std::string_view body) try {
  const LiveJson answer = LiveJson::parse(body);
  const LiveJson& numbers = answer.at("numbers");
  LiveState state{.store = text_in(answer, "store"),
                  .from = text_in(numbers, "from"),
                  .is_unlimited = numbers.contains("unlimited"),
                  .is_denied = numbers.contains("denied"),
                  .remaining = answer.at("remaining").get<std::int64_t>(),
                  .held = answer.at("held").get<std::int64_t>(),
                  .reset_after = duration_in(answer.at("reset_after"))};
  if (!state.is_unlimited && !state.is_denied)
    state.limit = numbers.at("limit").get<std::int64_t>();
  if (!answer.at("retry_after").is_null())
    state.retry_after = duration_in(answer.at("retry_after"));
  return state;
} catch (const LiveJson::exception&) {
  return std::nullopt;
}

std::optional<std::string> read_config_hash(std::string_view body) try {
  return text_in(LiveJson::parse(body), "hash");
} catch (const LiveJson::exception&) {
  return std::nullopt;
}

}  // namespace weir::cli
