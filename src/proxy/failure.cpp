#include "proxy/failure.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "decision/refusals.hpp"
#include "http/request_target.hpp"
#include "http2/error_code.hpp"

namespace weir::proxy {
namespace {

// In the order of the enumerators.
constexpr std::array<http::Refusal, 23> answers{{
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
    {502, "the upstream refused the request (HTTP/2 REFUSED_STREAM)"},
    {502, "the upstream reset the stream before its answer was complete"},
    {502, "the upstream ended its connection before its answer was complete"},
    {502, "the upstream's answer is not valid HTTP"},
    {504, "the upstream did not answer in time"},
    {503, "no server of the upstream is healthy"},
    {501, "the upstream speaks HTTP/2, to which Weir opens no WebSocket"},
    {503, "too many connections"},
}};
static_assert(answers.size() == static_cast<std::size_t>(Failure::overloaded) + 1);

/// A text for each error code of HTTP/2, and for an unknown one.
using CodeTexts = std::array<std::string, http2::error_code_count + 1>;

CodeTexts texts_with_code(Failure failure, std::string_view frame) {
  CodeTexts texts;
  for (std::size_t code = 0; code < texts.size(); ++code) {
    texts[code] = answers[static_cast<std::size_t>(failure)].detail;
    texts[code].append(" (HTTP/2 ").append(frame);
    texts[code].append(http2::error_name(static_cast<std::uint32_t>(code))).append(")");
  }
  return texts;
}

http::Refusal answer_with(const CodeTexts& texts, std::uint32_t code) {
  return {502, texts[std::min<std::size_t>(code, http2::error_code_count)]};
}

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

bool is_cut(Failure failure) {
  return failure >= Failure::upstream_broken && failure <= Failure::upstream_goaway;
}

http::Refusal answer_to(Failure failure, std::uint32_t http2_error) {
  if (failure == Failure::upstream_reset) {
    static const CodeTexts texts = texts_with_code(failure, "");
    return answer_with(texts, http2_error);
  }
  if (failure == Failure::upstream_goaway) {
    static const CodeTexts texts = texts_with_code(failure, "GOAWAY, ");
    return answer_with(texts, http2_error);
  }
  return answers[static_cast<std::size_t>(failure)];
}

}  // namespace weir::proxy
