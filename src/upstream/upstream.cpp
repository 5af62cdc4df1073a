#include "upstream/upstream.hpp"

namespace weir::upstream {

std::string Server::authority() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  std::string text = host;
  if (is_v6) text.insert(0, 1, '[').push_back(']');
  if (port != (secure ? 443 : 80)) text.append(":").append(std::to_string(port));
  return text;
}

}  // namespace weir::upstream
