// A model of RouteTable to compare it with: tries every route in order, with every reading of the
// path.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "routing/route_table.hpp"

namespace weir::routing {

class LinearTable {
 public:
  struct Answer {
    std::optional<http::Refusal> refusal;
    std::vector<Candidate> candidates;
  };

  explicit LinearTable(const std::vector<RouteTable::Entry>& entries) : entries_(entries) {}

  /// `original` as for RouteTable::find().
  template <class Original>
  Answer find(const Question& asked, Original&& original) const {
    Search search;
    widen(search, asked);
    const Question* described = nullptr;
    for (std::size_t i = 0; i < entries_.size() && search.open != 0; ++i) {
      if (entries_[i].decides && described == nullptr) {
        const Result<const Question*, http::Refusal> answer = original();
        if (!answer) return {.refusal = answer.error(), .candidates = {}};
        described = *answer;
        widen(search, *described);
      }
      try_route(i, entries_[i].decides ? *described : asked, search);
    }
    conclude(search);
    return {.refusal = search.refusal, .candidates = search.candidates};
  }

 private:
  struct Search {
    std::vector<Candidate> candidates;
    std::uint32_t open = 0;
    std::size_t readings = 0;
    PathEncodings encodings{};
    bool lacks_host = false;
    std::optional<std::size_t> normal{};
    std::optional<std::size_t> refusing{};
    std::optional<http::Refusal> refusal{};
  };

  static void widen(Search& search, const Question& question) {
    const std::size_t readings = question.paths.all().size();
    if (search.readings == 0 || (search.open & 1U) != 0) search.open |= (1U << readings) - 1U;
    search.readings = std::max(search.readings, readings);
    search.encodings.slashes |= question.paths.encodings().slashes;
    search.encodings.doubled |= question.paths.encodings().doubled;
  }

  void try_route(std::size_t route, const Question& question, Search& search) const {
    const RouteTable::Entry& entry = entries_[route];
    if (!matches_apart_from_path(*entry.match, question.request, question.client)) return;
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

  void conclude(Search& search) const {
    auto& candidates = search.candidates;
    if (search.lacks_host) {
      search.refusal =
          http::Refusal{400, "the request has no Host field, which the routes of its path need"};
      return;
    }
    if (!search.normal) candidates.clear();
    const auto is_tolerated = [&](const Candidate& candidate) {
      const PathEncodings& tolerated = entries_[candidate.route].tolerated;
      return (tolerated.slashes || !search.encodings.slashes) &&
             (tolerated.doubled || !search.encodings.doubled);
    };
    if ((search.encodings.slashes || search.encodings.doubled) &&
        (candidates.empty() || !std::all_of(candidates.begin(), candidates.end(), is_tolerated))) {
      search.refusal = http::Refusal{
          400, "the path is encoded in a way that services read differently, such as %2F or %2561"};
      return;
    }
    if (!candidates.empty())
      std::swap(candidates.front(), candidates[search.refusing.value_or(*search.normal)]);
  }

  const std::vector<RouteTable::Entry>& entries_;
};

}  // namespace weir::routing
