// Settings of the admin API.
#pragma once

#include <string>
#include <vector>

#include "base/endpoint.hpp"
#include "base/secret.hpp"

namespace weir::options {

struct Admin {
  Endpoint address{.host = "127.0.0.1", .port = 9090, .unix_path = {}};
  Secret token;                      ///< empty: no token needed
  std::vector<std::string> hosts{};  ///< names that Host may have while no token is set, in
                                     ///< addition to addresses and localhost
  friend bool operator==(const Admin&, const Admin&) = default;
};

}  // namespace weir::options
