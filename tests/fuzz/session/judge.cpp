#include "judge.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace weir::fuzz {
namespace {

using State = Message::State;

/// The target as RFC 9112 section 3.2.2 requires a proxy to write it.
std::string_view origin_form(std::string_view method, std::string_view target) {
  const auto scheme_end = target.find("://");
  if (target.empty() || target.front() == '/' || scheme_end == std::string_view::npos)
    return target;
  const auto after = target.substr(scheme_end + 3);
  const auto path = std::min(after.find_first_of("/?"), after.size());
  if (path == after.size()) return method == "OPTIONS" ? "*" : "/";
  return after.substr(path);
}

std::string key_of(const Message& request) {
  const auto target = origin_form(request.first, request.second);
  std::string key = std::string(request.first) + ' ';
  if (target.starts_with('?')) key += '/';
  return key.append(target);
}

bool is_of_this_hop(std::string_view name) {
  constexpr std::array<std::string_view, 12> names{"host",
                                                   "via",
                                                   "x-forwarded-for",
                                                   "x-forwarded-proto",
                                                   "x-forwarded-host",
                                                   "x-request-id",
                                                   "te",
                                                   "connection",
                                                   "upgrade",
                                                   "trailer",
                                                   "transfer-encoding",
                                                   "max-forwards"};
  return std::any_of(names.begin(), names.end(),
                     [name](std::string_view one) { return equals(one, name); });
}

/// RFC 9110 section 9.2.2, of those that are standard.
bool is_idempotent(std::string_view method) {
  constexpr std::array<std::string_view, 5> methods{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"};
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

}  // namespace

void fail(std::string_view why) {
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(why.size()), why.data());
  std::abort();
}

Judge::Judge(const Case& what) : case_(what) {
  sent_ = case_.client.sent();
  sent_.remove_prefix(std::min(sent_.size(), case_.before_http));
}

void Judge::judge() {
  read_requests();
  judge_answers();
  for (const auto& upstream : case_.upstreams)
    judge_upstream(*upstream);
  judge_counts();
}

void Judge::read_requests() {
  for (std::size_t at = 0;;) {
    Message request = read_request(sent_.substr(at), true);
    if (!request.has_head) {
      std::string_view rest = sent_.substr(at);
      while (rest.starts_with("\r\n"))
        rest.remove_prefix(2);
      ends_with_head_ = rest.starts_with("HEAD ");
      return;
    }
    at += request.size;
    const State state = request.state;
    std::string key = key_of(request);
    requests_.push_back({std::move(request), std::move(key)});
    ends_.push_back(at);
    if (state != State::complete) return;
  }
}

void Judge::judge_answers() {
  std::string_view rest = case_.client.received();
  bool has_closed = false;
  Message answer;
  while (!rest.empty()) {
    require(!has_closed, "bytes after the last answer of a connection");
    const bool is_known = answers_ < requests_.size();
    const bool was_read = is_known && !case_.was_turned_away;
    auto method = was_read ? requests_[answers_].message.first : std::string_view{};
    if (!is_known && !case_.was_turned_away && ends_with_head_) method = "HEAD";
    const bool is_whole = case_.client.has_ended() && !case_.client.was_reset();
    answer = read_answer(rest, method, is_whole);
    // It was answered before its first byte arrived.
    if (method == "HEAD" && answer.has_head && answer.status() == 408 && answer.size < rest.size())
      answer = read_answer(rest, {}, is_whole);
    require(answer.state != State::malformed, "an answer that is malformed");
    if (!answer.has_head) break;
    rest.remove_prefix(answer.size);
    if (answer.status() == 101) {
      require(is_known, "a tunnel that nobody asked for");
      tunnel_ = answers_;
      const auto is_source = [rest](const auto& upstream) {
        const std::string& all = upstream->sent();
        for (auto at = all.find("\r\n\r\n"); at != std::string::npos;
             at = all.find("\r\n\r\n", at + 1))
          if (std::string_view(all).substr(at + 4).starts_with(rest)) return true;
        return false;
      };
      require(std::any_of(case_.upstreams.begin(), case_.upstreams.end(), is_source),
              "a tunnel changes what it carries down");
      return;
    }
    judge_answer(answer, answers_);
    if (answer.status() < 200) continue;
    ++answers_;
    has_closed = answer.has_option("close");
  }
  judge_end(answer);
}

void Judge::judge_answer(const Message& answer, std::size_t index) {
  if (index >= requests_.size()) {
    // The answer to bytes that are not a request.
    require(index == requests_.size() || case_.was_turned_away, "more answers than requests");
    require(answer.status() >= 400 && answer.has_option("close"),
            "an answer to no request, other than a refusal");
    return;
  }
  const Message& request = requests_[index].message;
  require(answer.status() >= 200 || !request.is_old(), "an interim answer to HTTP/1.0");
  require(answer.framing != Message::Body::chunked || !request.is_old(), "chunks to HTTP/1.0");
  require(answer.framing != Message::Body::until_close || request.is_old(),
          "an answer without end to HTTP/1.1");
  const auto marked = answer.value(mark);
  if (!marked.empty() && !case_.has_false_marks)
    require(marked == requests_[index].key, "an answer to another request");
}

/// An incomplete answer must not look complete, and must not end as a complete one.
void Judge::judge_end(const Message& last) const {
  const auto& client = case_.client;
  if (client.received().empty() || last.state == State::complete) return;
  if (case_.was_aborted || !client.is_open() || client.is_stalled()) return;
  require(client.has_ended(), "an answer that does not end");
  require(client.was_reset(), "a cut answer that ends in order");
}

/// `rest` is the content of the tunnel if the request opened one. The client may not have read
/// whether it did.
bool Judge::is_tunnel(const End& upstream, const Message& request, std::string_view rest) const {
  if (!request.has_option("upgrade") || upstream.sent().find(" 101") == std::string::npos)
    return false;
  const std::string key = key_of(request);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const bool may_be = tunnel_ == SIZE_MAX || tunnel_ == i;
    if (may_be && requests_[i].key == key && sent_.substr(ends_[i]).starts_with(rest)) return true;
  }
  return false;
}

void Judge::judge_upstream(const End& upstream) {
  for (std::string_view rest = upstream.received(); !rest.empty();) {
    Message request = read_request(rest, false);
    require(request.state != State::malformed, "a request that is malformed goes up");
    if (!request.has_head) return;
    rest.remove_prefix(request.size);
    judge_request(request);
    if (is_tunnel(upstream, request, rest)) rest = {};
    require(rest.empty() || request.state == State::complete, "bytes behind a part of a request");
    std::string key = key_of(request);
    forwarded_.push_back({std::move(request), std::move(key)});
  }
}

void Judge::judge_request(const Message& request) {
  require(request.third == "HTTP/1.1", "another version goes up");
  require(request.count("host") == 1, "not exactly one Host goes up");
  require(request.count("via") > 0, "no Via goes up");
  require(request.count("x-request-id") == 1, "not exactly one X-Request-Id goes up");
  const std::string key = key_of(request);
  const auto is_source = [&](const Carried& one) {
    const Message& message = one.message;
    if (one.key != key || message.framing != request.framing) return false;
    if (request.state == State::complete && message.state != State::complete) return false;
    return request.state == State::complete ? message.body == request.body
                                            : message.body.starts_with(request.body);
  };
  require(std::any_of(requests_.begin(), requests_.end(), is_source),
          "a request goes up that the client did not send");
  judge_fields(request, key);
}

void Judge::judge_fields(const Message& request, const std::string& key) const {
  const auto is_from_client = [&](const Field& field, auto member) {
    return std::any_of(requests_.begin(), requests_.end(), [&](const Carried& one) {
      const auto& fields = one.message.*member;
      return one.key == key && std::any_of(fields.begin(), fields.end(), [&](const Field& other) {
               return other.name == field.name && other.value == field.value;
             });
    });
  };
  for (const auto& field : request.fields)
    require(is_of_this_hop(field.name) || is_from_client(field, &Message::fields),
            "a field goes up that the client did not send");
  for (const auto& field : request.trailers)
    require(is_from_client(field, &Message::trailers),
            "a trailer field goes up that the client did not send");
}

/// Requests that must not be repeated are sent once.
void Judge::judge_counts() const {
  for (const auto& one : forwarded_) {
    const auto is_same = [&](const Carried& other) { return other.key == one.key; };
    const auto sent = std::count_if(requests_.begin(), requests_.end(), is_same);
    const auto gone_up = std::count_if(forwarded_.begin(), forwarded_.end(), is_same);
    const auto each = is_idempotent(one.message.first) ? case_.attempts : 1;
    require(static_cast<std::size_t>(gone_up) <= static_cast<std::size_t>(sent) * each,
            "a request goes up too often");
  }
}

}  // namespace weir::fuzz
