#include "routing/mismatch.hpp"

#include <algorithm>

namespace weir::routing {
namespace {

using Condition = Mismatch::Condition;

bool matches_any_reading(const Match& match, const PathReadings& paths) {
  const auto all = paths.all();
  return std::any_of(all.begin(), all.end(), [&](const PathReading& reading) {
    return matches_path(match, reading, nullptr);
  });
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

std::optional<Mismatch> mismatch_of(const Match& match, const Question& question) {
  const http::RequestView& request = question.request;
  if (!matches_host(match, request)) return Mismatch{.condition = Condition::host};
  if (!matches_any_reading(match, question.paths)) return Mismatch{.condition = Condition::path};
  if (!matches_method(match, request)) return Mismatch{.condition = Condition::method};
  for (const auto& header : match.headers) {
    if (matches_header(header, request)) continue;
    return Mismatch{.condition = request.find(header.first) == nullptr
                                     ? Condition::header_missing
                                     : Condition::header_different,
                    .header = header.first};
  }
  if (!matches_address(match, question.client)) return Mismatch{.condition = Condition::address};
  return std::nullopt;
}

std::optional<Mismatch> why_skipped(const Route& route, std::size_t number,
                                    const RoutedRequest& routed) {
  const auto& candidates = routed.candidates;
  const auto is_route = [number](const Candidate& candidate) { return candidate.route == number; };
  if (std::any_of(candidates.begin(), candidates.end(), is_route)) return std::nullopt;
  // The request that the route sees was not read, so nothing can be compared.
  if (route.decide && !routed.has_read_original)
    return Mismatch{.condition = Condition::earlier_route};
  if (const auto mismatch = mismatch_of(route.match, routed.seen_by(route.decide))) return mismatch;
  return Mismatch{.condition =
                      candidates.empty() ? Condition::other_readings : Condition::earlier_route};
}

std::string describe(const Mismatch& mismatch, const MatchTexts& texts) {
  switch (mismatch.condition) {
    case Condition::host:
      return "host does not match " + texts.host;
    case Condition::path:
      return "path does not match " + texts.path;
    case Condition::method:
      return "method is not " + listed(texts.methods);
    case Condition::header_missing:
      return "header " + std::string{mismatch.header} + " is missing";
    case Condition::header_different:
      return "header " + std::string{mismatch.header} + " has another value";
    case Condition::address:
      return "client address is not in " + texts.address;
    case Condition::other_readings:
      return "matches another spelling of the path only";
    case Condition::earlier_route:
      break;
  }
  return "an earlier route takes the request";
}

}  // namespace weir::routing
