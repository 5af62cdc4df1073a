#include "admin/messages.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/beast/core/string.hpp>

#include "http/ratelimit_fields.hpp"

namespace weir::admin {

namespace beast_http = boost::beast::http;
using boost::system::error_code;

namespace {

std::string_view view(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

/// Returns the value of the field; empty if there are several, so that none of them is accepted.
std::optional<std::string_view> value_of(const beast_http::request_header<>& head,
                                         beast_http::field name) {
  const auto count = head.count(name);
  if (count == 0) return std::nullopt;
  return count == 1 ? view(head[name]) : std::string_view{};
}

/// The parts of a request target: in absolute form it names the host, and a server accepts that
/// (RFC 9112 section 3.2.2).
struct Target {
  std::optional<std::string_view> host{};
  std::string_view path{}, query{};
};

Target target_of(const beast_http::request_header<>& head) {
  constexpr std::string_view scheme = "http://";
  std::string_view left = view(head.target());
  Target made;
  if (boost::beast::iequals(left.substr(0, scheme.size()), scheme)) {
    left.remove_prefix(scheme.size());
    const std::size_t end = std::min(left.find_first_of("/?"), left.size());
    made.host = left.substr(0, end);
    left.remove_prefix(end);
  }
  const std::size_t question = std::min(left.find('?'), left.size());
  made.path = left.substr(0, question);
  if (made.path.empty()) made.path = "/";
  made.query = left.substr(std::min(question + 1, left.size()));
  return made;
}

void set_common_fields(beast_http::fields& response, std::string_view content_type) {
  response.set(beast_http::field::content_type, content_type);
  response.set(beast_http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  std::string date;
  http::append_http_date(date,
                         std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()));
  response.set(beast_http::field::date, date);
}

}  // namespace

Found find(std::span<const AdminEndpoint> endpoints, const Head& head,
           const Instruments& instruments) {
  const Target target = target_of(head);
  const auto hosts = head.count(beast_http::field::host);
  // RFC 9112 section 3.2.
  if (hosts > 1 || (hosts == 0 && head.version() > 10))
    return problem_answer(400, "the request needs exactly one Host field");
  if (head.count(beast_http::field::authorization) > 1)
    return problem_answer(400, "the request has several Authorization fields; send one");
  return find_endpoint(
      endpoints,
      {.method = view(head.method_string()),
       .path = target.path,
       .query = target.query,
       .authorization = view(head[beast_http::field::authorization]),
       .from = {.host = target.host ? target.host : value_of(head, beast_http::field::host),
                .origin = value_of(head, beast_http::field::origin)}},
      instruments.options);
}

AdminCall call_of(const beast_http::request<beast_http::string_body>& request,
                  const options::Admin* admin) {
  AdminCall call{
      .query = std::string(target_of(request).query),
      .body = request.body(),
      .is_authorized = is_authorized(view(request[beast_http::field::authorization]), admin)};
  if (request.method() == beast_http::verb::put) call.method = AdminCall::Method::put;
  if (request.method() == beast_http::verb::post) call.method = AdminCall::Method::post;
  if (request.method() == beast_http::verb::delete_) call.method = AdminCall::Method::remove;
  return call;
}

bool expects_continue(const Head& head) {
  return head.version() > 10 &&
         boost::beast::iequals(head[beast_http::field::expect], "100-continue");
}

AdminAnswer answer_to(const error_code& failure) {
  if (failure == beast_http::error::header_limit || failure == beast_http::error::buffer_overflow) {
    return problem_answer(431, "the request head is larger than 8 KiB");
  }
  if (failure.category() == make_error_code(beast_http::error::bad_method).category() &&
      failure != beast_http::error::end_of_stream &&
      failure != beast_http::error::partial_message) {
    return problem_answer(400, "malformed request");
  }
  return {.status = 0};
}

AdminAnswer body_answer(const error_code& failure) {
  if (failure != beast_http::error::body_limit) return {.status = 0};
  return problem_answer(413, "the body is larger than 16 KiB");
}

Response response_of(AdminAnswer answer, bool keep_alive) {
  Response response(beast_http::int_to_status(static_cast<unsigned>(answer.status)), 11,
                    std::move(answer.body));
  set_common_fields(response, answer.content_type);
  if (!answer.security_policy.empty()) {
    response.set("Content-Security-Policy", answer.security_policy);
    response.set("Referrer-Policy", "no-referrer");
  }
  if (!answer.allow.empty()) response.set(beast_http::field::allow, answer.allow);
  if (answer.status == 401) response.set(beast_http::field::www_authenticate, "Bearer");
  response.keep_alive(keep_alive);
  response.prepare_payload();
  return response;
}

/// The head must be complete.
bool has_body(const Parser& parser) {
  return parser.chunked() || parser.content_length().value_or(0) > 0;
}

beast_http::response<beast_http::empty_body> stream_head() {
  beast_http::response<beast_http::empty_body> response(beast_http::status::ok, 11);
  set_common_fields(response, "text/event-stream");
  response.keep_alive(false);
  return response;
}

}  // namespace weir::admin
