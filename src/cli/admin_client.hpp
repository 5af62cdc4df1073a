// One request to the admin server of a running instance.
#pragma once

#include <chrono>
#include <string>

#include "base/endpoint.hpp"
#include "base/result.hpp"
#include "base/secret.hpp"

namespace weir::cli {

struct AdminQuestion {
  std::string method = "GET";
  std::string target;
  Secret token{};  ///< empty: none is sent
  std::string body{};
};

struct AdminReply {
  int status = 0;
  std::string body;
};

/// Sends the request and waits for the answer. A problem states why there is none; it does not
/// contain the token.
Result<AdminReply> ask_admin(const Endpoint& address, const AdminQuestion& question,
                             std::chrono::seconds patience);

}  // namespace weir::cli
