#include "http/received_request.hpp"

namespace weir::http {

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

}  // namespace weir::http
