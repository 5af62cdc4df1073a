#include "base/endpoint.hpp"

namespace weir {

std::string Endpoint::to_string() const {
  if (is_unix()) return "unix:" + unix_path;
  std::string text = host;
  if (host.find(':') != std::string::npos) text.insert(0, 1, '[').push_back(']');
  return text.append(":").append(std::to_string(port));
}

}  // namespace weir
