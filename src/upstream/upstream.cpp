#include "upstream/upstream.hpp"

#include "http/authority.hpp"

namespace weir::upstream {

std::string Server::authority() const {
  return http::authority_of(host, port, secure);
}

}  // namespace weir::upstream
