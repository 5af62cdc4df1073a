// Makes the request head for `weir explain` from its arguments, as a client would send it.
//
// Pure. Problems name the argument and never repeat a value, which may be a secret.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace weir::cli {

struct RequestArguments {
  std::string method = "GET";
  std::string url;                    ///< http://HOST[:PORT][/PATH][?QUERY], or https
  std::vector<std::string> fields{};  ///< `NAME: VALUE`
};

/// Returns the bytes of the request head (RFC 9112 section 3). The target is sent as written:
/// nothing is decoded, encoded or normalised, except that a fragment is left out and an empty path
/// is "/". A Host field in the arguments replaces the host of the URL.
Result<std::string> request_head(const RequestArguments& arguments);

}  // namespace weir::cli
