// How a service reads requests that can be read two ways, found out by asking it: `weir check
// --probe URL`.
//
// Each form of the request differs from the plain one by something that some services ignore. A
// service that answers both alike, with the same status and body, reads them alike; then a limit on
// the plain form must hold for the other one too. Everything but the asking is pure.
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
  std::string host;  ///< as the Host field has it
  std::string path;  ///< begins with "/"; the service serves it
  std::string
      query;  ///< without the question mark; its first parameter is the one that is repeated
  std::optional<ProbeField> field{};  ///< the field whose name is written in other ways
};

/// `http://HOST[:PORT]/PATH[?QUERY]`. The problem says what is wrong with it.
Result<ProbeTarget> parse_probe_url(std::string_view url);
/// `NAME: VALUE`.
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

/// Sends one request and waits for its answer.
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

/// Asks for the plain form twice, for a path that should not exist, and for each other form once:
/// some 20 requests. A problem if the plain form cannot be compared with, or the service does not
/// answer it.
Result<ProbeReport> probe(const ProbeTarget& target, const Ask& ask);

/// Asks over a TCP connection for each request, within 5 s and up to 1 MiB of body.
Ask ask_over_tcp(const ProbeTarget& target);

}  // namespace weir::cli
