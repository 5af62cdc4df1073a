#include "replay/report_words.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace weir::replay {

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3;)
    text.insert(i -= 3, ",");
  return text;
}

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  if (part == 0 || whole == 0) return "0 %";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.01) return "< 0.01 %";
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), percent < 1 ? "%.2f %%" : "%.1f %%", percent);
  return text.data();
}

std::string length_of(Duration duration) {
  const std::int64_t us = to_us(duration);
  for (const auto& [unit, name] : {std::pair{86'400'000'000, "d"},
                                   {3'600'000'000, "h"},
                                   {60'000'000, "m"},
                                   {1'000'000, "s"},
                                   {1'000, "ms"}}) {
    if (us % unit == 0) return std::to_string(us / unit) + name;
  }
  return std::to_string(us) + "us";
}

std::string peak_of(const KeyReport& key) {
  return grouped(static_cast<std::uint64_t>(key.peak)) +
         (key.window ? "/" + length_of(*key.window) : " at once");
}

std::string rate_of(const RateReport& rate) {
  if (rate.limit) return std::to_string(*rate.limit) + " at once";
  std::string text;
  for (const rules::Rate& one : rate.rates) {
    if (!text.empty()) text += ", ";
    text += std::to_string(one.count) + "/" + length_of(one.per);
  }
  return rate.rates.size() == 1 ? text : "[" + text + "]";
}

std::string setting_of(const RateReport& rate) {
  if (rate.limit) return "limit: " + std::to_string(*rate.limit);
  return (rate.rates.size() == 1 ? "rate: " : "rates: ") + rate_of(rate);
}

std::string percent_of(std::int64_t share) {
  constexpr std::int64_t per_cent = whole_share / 100;
  std::string text = std::to_string(share / per_cent);
  if (share % per_cent == 0) return text;
  text += "." + std::to_string(per_cent + share % per_cent).substr(1);
  text.resize(text.find_last_not_of('0') + 1);
  return text;
}

std::string heading_of(const Suggestions& suggestions) {
  const bool has_limits = std::ranges::any_of(
      suggestions.policies, [](const Suggestion& one) { return one.rate && one.rate->limit; });
  const std::string begin =
      has_limits ? "The smallest round rate or limit" : "The smallest round rate";
  if (suggestions.max_denied == 0) return begin + " with which each policy denies no request";
  const std::string share = percent_of(suggestions.max_denied) + " %";
  return begin + " with which each policy denies at most " + share +
         " of its requests, and requests of at most " + share + " of its keys";
}

std::string settings_of(const Suggestion& suggestion, const RateReport& rate) {
  return setting_of(rate) + (suggestion.drops_burst ? ", no burst" : "");
}

std::string remark_of(const Suggestion& suggestion) {
  if (suggestion.rate) {
    if (!suggestion.drops_burst) return {};
    return "remove its burst, so that the burst is the count of the rate: with the configured "
           "burst no round rate denies few enough";
  }
  if (!suggestion.highest) return "no round rate is possible for this policy";
  const std::string_view what = suggestion.highest->limit ? "limit" : "rate";
  return "no round " + std::string(what) + " up to " + rate_of(*suggestion.highest) +
         " denies few enough: it denies " + grouped(suggestion.highest->denied) + " requests, of " +
         grouped(suggestion.highest->denied_keys) + " keys";
}

std::string_view secrets_of(const FlipReport& flips) {
  if (flips.has_two_hashes)
    return "identity_secret differs, and files list plans by hashes: a key that the other "
           "configuration denies is shown with the hash of its own secret";
  if (flips.secret_differs)
    return "identity_secret differs: identities are compared, and shown, by the hashes of the "
           "first "
           "configuration";
  return {};
}

}  // namespace weir::replay
