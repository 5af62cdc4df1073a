#include "routing/route_table.hpp"

#include <algorithm>
#include <bit>

namespace weir::routing {
namespace {

constexpr http::Refusal encoding_not_tolerated{
    400, "the path is encoded in a way that services read differently, such as %2F or %2561"};

constexpr http::Refusal host_missing{
    400, "the request has no Host field, which the routes of its path need"};

}  // namespace

RouteTable::RouteTable(std::vector<Entry> entries, const PathVariants& variants)
    : entries_(std::move(entries)), needs_{.variants = variants} {
  for (const Entry& entry : entries_) {
    needs_.tolerated.slashes |= entry.tolerated.slashes;
    needs_.tolerated.doubled |= entry.tolerated.doubled;
    if (!entry.match->path) continue;
    needs_.has_upper_case_patterns |= entry.match->path->has_upper_case();
    needs_.has_trailing_slash_patterns |= entry.match->path->has_trailing_slash();
  }
}

/// Opens all readings of a question that is reached while its request is still without a route. A
/// question with fewer readings than another stands with its last one for the rest of them.
void RouteTable::widen(Search& search, const Question& question) {
  const std::size_t readings = question.paths.all().size();
  if (search.readings == 0 || (search.open & 1U) != 0) search.open |= (1U << readings) - 1U;
  search.readings = std::max(search.readings, readings);
  search.encodings.slashes |= question.paths.encodings().slashes;
  search.encodings.doubled |= question.paths.encodings().doubled;
}

void RouteTable::try_route(std::size_t route, const Question& question, Search& search) const {
  const Entry& entry = entries_[route];
  if (!matches_apart_from_path(*entry.match, question.request)) return;
  const auto paths = question.paths.all();
  auto& candidates = search.candidates;
  const std::size_t first_of_route = candidates.size();
  for (std::uint32_t open = search.open; open != 0; open &= open - 1) {
    const auto reading = static_cast<std::size_t>(std::countr_zero(open));
    const PathReading& path = paths[std::min(reading, paths.size() - 1)];
    std::array<std::string_view, path_parameter_limit> captures;
    if (!matches_path(*entry.match, path, captures.data())) continue;
    search.open &= ~(1U << reading);
    search.lacks_host |= needs_host(*entry.match, question.request);
    if (candidates.size() == first_of_route || candidates.back().path.data() != path.text.data())
      candidates.push_back({.route = route, .path = path.text, .captures = captures});
    if (reading == 0) search.normal = candidates.size() - 1;
    if (entry.refuses && !search.refusing) search.refusing = candidates.size() - 1;
  }
}

std::optional<http::Refusal> RouteTable::conclude(const Search& search) const {
  if (search.lacks_host) return host_missing;
  auto& candidates = search.candidates;
  if (!search.normal) candidates.clear();
  const bool is_encoded = search.encodings.slashes || search.encodings.doubled;
  if (candidates.size() == 1 && !is_encoded) return std::nullopt;
  const auto is_tolerated = [&](const Candidate& candidate) {
    const PathEncodings& tolerated = entries_[candidate.route].tolerated;
    return (tolerated.slashes || !search.encodings.slashes) &&
           (tolerated.doubled || !search.encodings.doubled);
  };
  if (is_encoded &&
      (candidates.empty() || !std::all_of(candidates.begin(), candidates.end(), is_tolerated)))
    return encoding_not_tolerated;
  if (!candidates.empty())
    std::swap(candidates.front(), candidates[search.refusing.value_or(*search.normal)]);
  return std::nullopt;
}

}  // namespace weir::routing
