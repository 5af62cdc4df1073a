// The routes of a configuration; finds those that match a request.
//
// The first route that matches takes the request; an index finds it (route_index.hpp). A path that
// can be read in several ways (path_readings.hpp) may lead to a different route in each: the route
// of the normal form takes the request, and the limits of all of them apply. Pure; thread-safe once
// built.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_address.hpp"
#include "base/result.hpp"
#include "http/refusal.hpp"
#include "http/request_view.hpp"
#include "routing/matcher.hpp"
#include "routing/path_readings.hpp"
#include "routing/route_index.hpp"

namespace weir::routing {

inline constexpr http::Refusal lower_case_method{
    400, "the method has lower-case letters; write it in upper case, such as GET"};

/// A request as routes see it.
struct Question {
  http::RequestView request;
  PathReadings paths;
  IpAddress client{};  ///< its whole address
};

/// A route that matches the request in at least one reading of its path.
struct Candidate {
  std::size_t route = 0;  ///< its place in the configuration
  std::string_view path;  ///< the reading
  std::array<std::string_view, path_parameter_limit> captures{};
};

class RouteTable {
 public:
  struct Entry {
    const Match* match;  ///< outlives the table
    PathEncodings tolerated{};
    bool decides = false;  ///< sees the original request that another proxy describes
    bool refuses = false;  ///< generates an answer of 400 or above, for some paths but not for all
  };

  RouteTable(std::vector<Entry> entries, const PathVariants& variants);

  /// For PathReadings::read() of a Question about these routes.
  const ReadingOptions& reading_options() const { return reading_options_; }

  /// False for a method with a lower-case letter that no route names exactly: methods are
  /// case-sensitive (RFC 9110 section 9.1), but some services read "post" as POST, which would take
  /// it past the routes for POST. Answer it with lower_case_method.
  bool accepts_method(std::string_view method) const;

  /// Finds the routes for `asked`. Routes that decide see the result of `original` instead, a
  /// Result<const Question*, http::Refusal>; it is called at most once, and only if one of them is
  /// reached.
  ///
  /// The first candidate takes the request: the route of the normal form or, where another reading
  /// leads to a route that refuses, that one. No candidates: no route matches the normal form.
  /// Refuses with 400: an encoding that one of the candidates does not tolerate, and a request
  /// without a host for a route with one.
  template <class Original>
  std::optional<http::Refusal> find(const Question& asked, Original&& original,
                                    std::vector<Candidate>& candidates) const;

 private:
  using Route = RouteIndex::Route;
  /// The state of one find().
  struct Search {
    std::vector<Candidate>& candidates;
    std::uint32_t open = 0;    ///< a bit for each reading that has found no route yet
    std::size_t readings = 0;  ///< the number of the question that has more
    PathEncodings encodings{};
    bool lacks_host = false;                ///< a route that was found needs a host
    std::optional<std::size_t> normal{};    ///< the candidate of the normal form
    std::optional<std::size_t> refusing{};  ///< the first one that refuses
  };
  static void widen(Search& search, const Question& question);
  Route first_match(const RouteIndex& index, const Question& question, std::size_t reading,
                    Route from, Route to) const;
  Route first_among(Route from, Route to, const Question& asked, const Question* described,
                    std::size_t reading) const;
  void find_among(Route from, Route to, const Question& asked, const Question* described,
                  Search& search) const;
  void add_candidate(Route route, std::size_t reading, const Question& question,
                     Search& search) const;
  std::optional<http::Refusal> conclude(const Search& search) const;

  std::vector<Entry> entries_;
  ReadingOptions reading_options_;
  std::vector<std::string> lower_case_methods_;  ///< with a lower-case letter, named by a route
  Route first_deciding_;                         ///< as many as there are routes if none decides
  RouteIndex index_;                             ///< of the routes that do not decide
  RouteIndex deciding_;                          ///< of those that do
};

template <class Original>
std::optional<http::Refusal> RouteTable::find(const Question& asked, Original&& original,
                                              std::vector<Candidate>& candidates) const {
  candidates.clear();
  Search search{.candidates = candidates};
  widen(search, asked);
  find_among(0, first_deciding_, asked, nullptr, search);
  const auto end = static_cast<Route>(entries_.size());
  if (search.open != 0 && first_deciding_ != end) {
    const Result<const Question*, http::Refusal> described = original();
    if (!described) return described.error();
    widen(search, **described);
    find_among(first_deciding_, end, asked, *described, search);
  }
  return conclude(search);
}

}  // namespace weir::routing
