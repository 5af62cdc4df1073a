#include "proxy/expectation.hpp"

#include "http/forwarded_head.hpp"

namespace weir::proxy {

bool expects_continue(const http::ReceivedRequest& request) {
  return request.view.version_minor > 0 && request.view.find(http::FieldId::expect) != nullptr;
}

loop::Task<error_code> send_continue(Responder& responder) {
  const http::StatusLine line{.status = 100, .reason = "Continue"};
  const http::ConnectionOptions connection;
  co_return co_await responder.interim(
      {.line = line, .fields = {}, .connection = connection, .body = {}});
}

}  // namespace weir::proxy
