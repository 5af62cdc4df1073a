#include "proxy/failure.hpp"

#include <array>
#include <cstddef>

#include "decision/refusals.hpp"
#include "http/request_target.hpp"

namespace weir::proxy {
namespace {

// In the order of the enumerators.
constexpr std::array<http::Refusal, 20> answers{{
    {0, ""},
    http::head_malformed,
    http::head_too_large,
    http::target_too_long,
    http::method_too_long,
    {408, "the request head did not arrive in time"},
    decision::body_too_large,
    {400, "the request body is not valid chunked coding"},
    {408, "the request body did not arrive in time"},
    {400, "this port expects TLS; send the request to https://"},
    {0, ""},
    {504, "the deadline of the call has passed"},
    {502, "the upstream cannot be reached"},
    {504, "the upstream did not accept a connection in time"},
    {502, "the upstream closed the connection before its answer was complete"},
    {502, "the upstream's answer is not valid HTTP"},
    {504, "the upstream did not answer in time"},
    {503, "no server of the upstream is healthy"},
    {501, "the upstream speaks HTTP/2, to which Weir opens no WebSocket"},
    {503, "too many connections"},
}};
static_assert(answers.size() == static_cast<std::size_t>(Failure::overloaded) + 1);

}  // namespace

Failure failure_of(http::HeadFault fault) {
  switch (fault) {
    case http::HeadFault::malformed:
      return Failure::head_malformed;
    case http::HeadFault::too_large:
      return Failure::head_too_large;
    case http::HeadFault::long_target:
      return Failure::target_too_long;
    case http::HeadFault::long_method:
      return Failure::method_too_long;
  }
  return Failure::head_malformed;
}

bool is_of_upstream(Failure failure) {
  return failure >= Failure::upstream_unreachable && failure <= Failure::upstream_unhealthy;
}

const http::Refusal& answer_to(Failure failure) {
  return answers[static_cast<std::size_t>(failure)];
}

}  // namespace weir::proxy
