// Why a route does not match a request: the first condition that fails, for `weir explain`.
//
// The results contain parts of the configuration, never a value of the request. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "routing/find_routes.hpp"
#include "routing/matcher.hpp"

namespace weir::routing {

struct Mismatch {
  enum class Condition : std::uint8_t {
    host,              ///< the request has another one
    path,              ///< no reading of the path matches
    method,            ///< the request has another one
    header_missing,    ///< no field has the name
    header_different,  ///< no field with the name has the value
    address,           ///< the list does not contain the client's
    other_readings,    ///< the route matches another reading only, and no route the normal form
    earlier_route,     ///< the route matches, and an earlier one takes the request
  };
  Condition condition = Condition::path;
  std::string_view header{};  ///< its name as configured; a view into the Match
};

/// Returns the first condition of `match` that `question` does not fulfil, in the order host, path,
/// methods, headers, address. Nothing: the route matches in at least one reading.
std::optional<Mismatch> mismatch_of(const Match& match, const Question& question);

/// Returns why `route`, which has that number in the table, is not among the candidates of
/// `routed`; nothing if it is. find_routes() must have filled `routed` without a refusal.
std::optional<Mismatch> why_skipped(const Route& route, std::size_t number,
                                    const RoutedRequest& routed);

/// The conditions of a match as text. The caller replaces values that must not be shown.
struct MatchTexts {
  explicit MatchTexts(const Match& match)
      : host(match.host.value_or("")),
        path(match.path ? match.path->text() : ""),
        methods(match.methods),
        address(match.address ? match.address->name() : "") {}
  std::string host;
  std::string path;
  std::vector<std::string> methods;
  std::string address;  ///< name of the list
};

/// Describes the mismatch: `host does not match *.example.com`, `path does not match /v1/**`,
/// `method is not GET or POST`, `header x-beta is missing`, `client address is not in office`.
///
/// Contains the texts and the names of header fields, but no value of a field.
std::string describe(const Mismatch& mismatch, const MatchTexts& texts);

}  // namespace weir::routing
