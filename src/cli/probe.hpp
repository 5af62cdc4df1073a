// Finds out how a service reads requests that can be read in two ways, by sending them: `weir check
// --probe URL`.
//
// Each form of the request differs from the plain one by something that some services ignore. A
// service that answers both with the same status and body, apart from the path of the request in
// the body, reads both alike; then a limit on the plain form must also hold for the other one.
// Another status means that it reads them differently. Another body with the same status leaves it
// open. All but the sending is pure.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"

namespace weir::cli {

/// A header field, name and value.
using ProbeField = std::pair<std::string, std::string>;

struct ProbeTarget {
  Endpoint address;
  std::string host;  ///< as in the Host field
  std::string path;  ///< begins with "/"; the service serves it
  std::string
      query;  ///< without the question mark; its first parameter is the one that is repeated
  std::optional<ProbeField> field{};  ///< the field whose name is varied
};

/// Parses `http://HOST[:PORT]/PATH[?QUERY]`.
Result<ProbeTarget> parse_probe_url(std::string_view url);
/// Parses `NAME: VALUE`.
Result<ProbeField> parse_probe_field(std::string_view text);

struct ProbeRequest {
  std::string method = "GET";
  std::string target;
  std::optional<ProbeField> field{};
};

struct ProbeAnswer {
  int status = 0;
  std::string body;
};

/// Sends one request and returns its answer.
using Ask = std::function<Result<ProbeAnswer>(const ProbeRequest&)>;

struct ProbeFinding {
  std::string form;     ///< `encoded slash: GET /api%2Fitems`, without the query
  std::string reading;  ///< `reads both alike`, `tells them apart`, `not found out` and others
  std::string advice;   ///< the setting that follows, or why nothing was found out
};

struct ProbeReport {
  ProbeAnswer plain;
  bool is_steady = false;  ///< the plain request was answered twice with the same body
  std::vector<ProbeFinding> findings;
};

/// Requests the plain form twice, a path that should not exist, and each other form once: about 20
/// requests. Fails if the service does not answer the plain form, or the answer cannot serve for
/// comparison.
Result<ProbeReport> probe(const ProbeTarget& target, const Ask& ask);

/// Returns a function that opens a TCP connection for each request and reads up to 1 MiB of body
/// within 5 s.
Ask ask_over_tcp(const ProbeTarget& target);

}  // namespace weir::cli
