#include "routing/route_table.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include <boost/container/static_vector.hpp>

#include "http/characters.hpp"

namespace weir::routing {
namespace {

constexpr http::Refusal encoding_not_tolerated{
    400, "the path is encoded in a way that services read differently, such as %2F or %2561"};

constexpr http::Refusal host_missing{
    400, "the request has no Host field, which the routes of its path need"};

/// Returns the reading with that number, or the last one if the question has fewer.
const PathReading& reading_of(const Question& question, std::size_t reading) {
  const auto paths = question.paths.all();
  return paths[std::min(reading, paths.size() - 1)];
}

/// Returns the routes of `entries` that decide, or the others.
std::vector<RouteIndex::Entry> indexed(const std::vector<RouteTable::Entry>& entries,
                                       bool decides) {
  std::vector<RouteIndex::Entry> chosen;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].decides == decides)
      chosen.push_back({.route = static_cast<RouteIndex::Route>(i), .match = entries[i].match});
  }
  return chosen;
}

std::uint32_t first_deciding(const std::vector<RouteTable::Entry>& entries) {
  const auto first = std::find_if(entries.begin(), entries.end(),
                                  [](const RouteTable::Entry& entry) { return entry.decides; });
  return static_cast<std::uint32_t>(first - entries.begin());
}

}  // namespace

RouteTable::RouteTable(std::vector<Entry> entries, const PathVariants& variants)
    : entries_(std::move(entries)),
      reading_options_{.variants = variants},
      first_deciding_(first_deciding(entries_)),
      index_(indexed(entries_, false)),
      deciding_(indexed(entries_, true)) {
  for (const Entry& entry : entries_) {
    reading_options_.tolerated.slashes |= entry.tolerated.slashes;
    reading_options_.tolerated.doubled |= entry.tolerated.doubled;
    std::copy_if(entry.match->methods.begin(), entry.match->methods.end(),
                 std::back_inserter(lower_case_methods_), http::has_lower_case);
    if (!entry.match->path) continue;
    reading_options_.has_upper_case_patterns |= entry.match->path->has_upper_case();
    reading_options_.has_trailing_slash_patterns |= entry.match->path->has_trailing_slash();
  }
}

bool RouteTable::accepts_method(std::string_view method) const {
  if (!http::has_lower_case(method)) return true;
  return std::find(lower_case_methods_.begin(), lower_case_methods_.end(), method) !=
         lower_case_methods_.end();
}

/// Opens all readings of a question that is reached before the request has a route. A question with
/// fewer readings than another uses its last one for the rest.
void RouteTable::widen(Search& search, const Question& question) {
  const std::size_t readings = question.paths.all().size();
  if (search.readings == 0 || (search.open & 1U) != 0) search.open |= (1U << readings) - 1U;
  search.readings = std::max(search.readings, readings);
  search.encodings.slashes |= question.paths.encodings().slashes;
  search.encodings.doubled |= question.paths.encodings().doubled;
}

RouteTable::Route RouteTable::first_match(const RouteIndex& index, const Question& question,
                                          std::size_t reading, Route from, Route to) const {
  const PathReading& path = reading_of(question, reading);
  return index.first(path, question.request.host, from, to, [&](Route route) {
    const Match& match = *entries_[route].match;
    return matches_apart_from_path(match, question.request, question.client) &&
           matches_path(match, path, nullptr);
  });
}

RouteTable::Route RouteTable::first_among(Route from, Route to, const Question& asked,
                                          const Question* described, std::size_t reading) const {
  const Route route = first_match(index_, asked, reading, from, to);
  if (described == nullptr) return route;
  return first_match(deciding_, *described, reading, from, route);
}

/// Finds the first route of [from, to) for each open reading. Without `described` none of the
/// routes may decide. The candidates are in the order of their routes, and for one route in the
/// order of the readings.
void RouteTable::find_among(Route from, Route to, const Question& asked, const Question* described,
                            Search& search) const {
  if (std::has_single_bit(search.open)) {
    const auto reading = static_cast<std::size_t>(std::countr_zero(search.open));
    const Route route = first_among(from, to, asked, described, reading);
    if (route == to) return;
    search.open = 0;
    return add_candidate(route, reading, entries_[route].decides ? *described : asked, search);
  }
  struct Found {
    Route route;
    std::uint32_t reading;
  };
  boost::container::static_vector<Found, PathReadings::limit> found;
  for (std::uint32_t open = search.open; open != 0; open &= open - 1) {
    const auto reading = static_cast<std::uint32_t>(std::countr_zero(open));
    const Route route = first_among(from, to, asked, described, reading);
    if (route == to) continue;
    search.open &= ~(1U << reading);
    const auto place =
        std::upper_bound(found.begin(), found.end(), route,
                         [](Route wanted, const Found& other) { return wanted < other.route; });
    found.insert(place, {.route = route, .reading = reading});
  }
  for (const Found& one : found)
    add_candidate(one.route, one.reading, entries_[one.route].decides ? *described : asked, search);
}

/// Readings of the same text are one candidate.
void RouteTable::add_candidate(Route route, std::size_t reading, const Question& question,
                               Search& search) const {
  const Entry& entry = entries_[route];
  const PathReading& path = reading_of(question, reading);
  auto& candidates = search.candidates;
  if (candidates.empty() || candidates.back().route != route ||
      candidates.back().path.data() != path.text.data()) {
    Candidate& candidate = candidates.emplace_back();
    candidate.route = route;
    candidate.path = path.text;
    if (entry.match->path && !entry.match->path->parameters().empty())
      entry.match->path->matches(path, candidate.captures.data());
  }
  search.lacks_host |= needs_host(*entry.match, question.request);
  if (reading == 0) search.normal = candidates.size() - 1;
  if (entry.refuses && !search.refusing) search.refusing = candidates.size() - 1;
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
