// The answers that Weir makes itself.
#include "base/appender.hpp"
#include "http/problem.hpp"
#include "http/ratelimit_fields.hpp"
#include "proxy/forwarded_head.hpp"
#include "proxy/session.hpp"

namespace weir::proxy {
namespace {

constexpr std::string_view problem_json = "application/problem+json";

/// Small enough to be read to its end after the answer, and on its way already: a client that waits
/// for 100 never sends it.
bool is_worth_reading(const Exchange& exchange, std::size_t max_drain) {
  if (exchange.body_is_read) return true;
  if (exchange.request.find(http::FieldId::expect) != nullptr) return false;
  return exchange.body.kind == http::Framing::Kind::length && exchange.body.length <= max_drain;
}

}  // namespace

Task<> Session::answer(const http::Refusal& refusal) {
  if (aborted_ || refusal.status == 0) {
    exchange_->keep_alive = false;
    co_return;
  }
  std::string& body = context_.body;
  body.clear();
  http::append_problem(body, refusal.status, refusal.detail);
  std::string_view more_fields;
  if (refusal.status == 405) more_fields = allow_line;
  if (refusal.status == 401) more_fields = exchange_->route->challenge;
  co_await send_answer(refusal.status, problem_json, more_fields, body);
}

Task<> Session::answer_ambiguous() {
  const std::string detail = identity::describe(exchange_->ambiguity);
  co_await answer({400, detail});
}

Task<> Session::answer_denied() {
  const limiter::Policy& policy = *exchange_->policy;
  const auto& options = settings().response_fields;
  std::string& fields = context_.fields;
  fields.assign("Cache-Control: no-store\r\n");
  std::optional<std::int64_t> retry_after_s;
  if (exchange_->retry_after) {
    retry_after_s = http::retry_after_seconds(*exchange_->retry_after, options.retry_after_jitter,
                                              context_.next_random());
    http::append_retry_after(fields, *retry_after_s, options.retry_after, context_.clock.now());
  }
  std::string& body = context_.body;
  body.clear();
  if (!policy.body)
    http::append_quota_exceeded(body, policy.status, exchange_->violated, retry_after_s);
  co_await send_answer(policy.status, policy.body ? "text/plain" : problem_json, fields,
                       policy.body ? *policy.body : body);
}

Task<> Session::answer_fixed() {
  const auto& fixed = exchange_->route->respond;
  co_await send_answer(fixed.status, fixed.content_type, "", fixed.body);
}

/// Of what is no request, too: whoever sent it reads no content behind the answer (RFC 9110 section
/// 9.3.2). Its bytes still lie in the input then.
bool Session::asks_for_head() const {
  const std::string_view method = exchange_->request.method;
  return method.empty() ? input_.data().starts_with("HEAD ") : method == "HEAD";
}

void Session::append_own_answer(std::string& text, std::string_view content_type,
                                std::string_view more_fields, std::string_view body) {
  const int status = exchange_->status;
  Appender out(text);
  out.add("HTTP/1.1 ").number(status).add(' ').add(http::reason_phrase(status));
  out.add("\r\nDate: ").add(context_.date.at(context_.clock.now())).add("\r\n");
  if (status != 204) {
    out.add("Content-Type: ").add(content_type);
    out.add("\r\nContent-Length: ").number(body.size()).add("\r\n");
  }
  out.add(exchange_->limit_fields).add(more_fields);
  append_connection(out, *exchange_);
  if (!asks_for_head() && status != 204 && status != 304) out.add(body);
}

Task<> Session::send_answer(int status, std::string_view content_type, std::string_view more_fields,
                            std::string_view body) {
  if (is_draining() || !is_worth_reading(*exchange_, settings().downstream.max_drain))
    exchange_->keep_alive = false;
  exchange_->status = status;
  exchange_->head_is_sent = true;
  std::string& out = context_.output;
  out.clear();
  append_own_answer(out, content_type, more_fields, body);
  exchange_->bytes_out += out.size();
  error_code ec;
  stream_.try_write(out, ec);
  if (stream_.has_unsent()) ec = co_await flush(stream_);
  if (ec) exchange_->keep_alive = false;
}

}  // namespace weir::proxy
