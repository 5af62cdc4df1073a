#include "proxy/received_request.hpp"

namespace weir::proxy {

void ReceivedRequest::clear() {
  view = {};
  fields.clear();
  connection = {};
  framing = {};
  is_framed = false;
  upgrade.clear();
  scheme = "http";
  keep_alive = false;
}

}  // namespace weir::proxy
