#include "http/answer_reader.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "http/characters.hpp"

namespace weir::http {
namespace {

using std::chrono::seconds;

constexpr std::int64_t most_seconds = std::int64_t{1} << 31;

std::optional<std::int64_t> delta_seconds(std::string_view text) {
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  return std::min(parse_number<std::int64_t>(text).value_or(most_seconds), most_seconds);
}

/// Removes the text up to the next comma that is not within a quoted string, with that comma, and
/// returns it.
std::string_view take_directive(std::string_view& list) {
  bool is_quoted = false;
  std::size_t at = 0;
  for (; at < list.size() && (is_quoted || list[at] != ','); ++at) {
    if (is_quoted && list[at] == '\\') {
      ++at;
    } else if (list[at] == '"') {
      is_quoted = !is_quoted;
    }
  }
  const std::string_view directive = list.substr(0, at);
  list.remove_prefix(std::min(at + 1, list.size()));
  return directive;
}

/// The argument of `max-age`, as a token or quoted (RFC 9111 section 5.2); nothing for another
/// directive.
std::optional<std::int64_t> max_age(std::string_view directive) {
  constexpr std::string_view name = "max-age=";
  directive = trimmed(directive);
  if (!iequals(directive.substr(0, name.size()), name)) return std::nullopt;
  std::string_view value = directive.substr(name.size());
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  return delta_seconds(value);
}

bool has_content_coding(std::span<const FieldView> fields) {
  return std::ranges::any_of(fields, [](const FieldView& field) {
    return field.id == FieldId::content_encoding && !iequals(field.value, "identity");
  });
}

/// A date counts as no Retry-After: its sender has another clock.
std::optional<seconds> retry_after_of(std::span<const FieldView> fields) {
  for (const FieldView& field : fields) {
    if (!iequals(field.name, "retry-after")) continue;
    const auto found = delta_seconds(field.value);
    if (found) return seconds(*found);
  }
  return std::nullopt;
}

}  // namespace

std::optional<seconds> fresh_for(std::span<const FieldView> fields) {
  std::optional<std::int64_t> lifetime;
  std::int64_t age = 0;
  for (const FieldView& field : fields) {
    if (field.id == FieldId::age) age = std::max(age, delta_seconds(field.value).value_or(0));
    if (field.id != FieldId::cache_control) continue;
    for (std::string_view list = field.value; !list.empty();) {
      const auto found = max_age(take_directive(list));
      if (found) lifetime = std::min(*found, lifetime.value_or(*found));
    }
  }
  if (!lifetime) return std::nullopt;
  return seconds(std::max<std::int64_t>(*lifetime - age, 0));
}

AnswerReader::State AnswerReader::read(std::string_view bytes) {
  if (state_ != State::head && state_ != State::body) return state_;
  input_ += bytes;
  if (state_ == State::head) read_head();
  if (state_ == State::body) read_body();
  return state_;
}

AnswerReader::State AnswerReader::end() {
  if (state_ == State::body && framing_.kind == Framing::Kind::until_close)
    return state_ = State::done;
  if (state_ != State::head && state_ != State::body) return state_;
  const bool is_empty = state_ == State::head && input_.empty();
  return fail(is_empty ? "the connection was closed without an answer"
                       : "the connection was closed before the end of the answer");
}

AnswerReader::State AnswerReader::read_head() {
  std::vector<FieldView> fields;
  for (;;) {
    const HeadEnd end = find_head_end(input_, scanned_);
    const std::size_t size = end.state == HeadEnd::State::complete ? end.size : input_.size();
    if (end.state == HeadEnd::State::malformed) return fail("it is not HTTP/1.1");
    if (size > limits_.head)
      return fail("its head is larger than " + std::to_string(limits_.head) + " bytes");
    if (end.state == HeadEnd::State::incomplete) return state_;
    const auto line = parse_response_head(std::string_view(input_).substr(0, size), fields);
    if (!line || line->status < 100) return fail("it is not HTTP/1.1");
    scanned_ = 0;
    if (line->status >= 200 || line->status == 101) {
      status_ = line->status;
      begin_body(static_cast<std::uint8_t>(line->version % 10), fields);
      input_.erase(0, size);
      return state_;
    }
    input_.erase(0, size);
  }
}

AnswerReader::State AnswerReader::begin_body(std::uint8_t version_minor,
                                             std::span<const FieldView> fields) {
  const bool is_success = status_ >= 200 && status_ <= 299;
  const bool has_no_end = status_ == 101;
  retry_after_ = retry_after_of(fields);
  const bool reads_body = limits_.reads_body && (is_success || limits_.reads_any_status);
  if (has_no_end || !reads_body) return state_ = State::done;
  const auto framing = response_framing("GET", status_, version_minor, fields);
  if (!framing) return fail(std::string("its framing is invalid: ").append(framing.error().detail));
  if (has_content_coding(fields))
    return fail("its body has a content coding, and the request accepts none");
  framing_ = *framing;
  if (is_success) fresh_for_ = http::fresh_for(fields);
  if (framing_.kind == Framing::Kind::length && framing_.length > limits_.body) {
    return fail("its body has " + std::to_string(framing_.length) + " bytes, more than " +
                std::to_string(limits_.body));
  }
  return state_ = framing_.kind == Framing::Kind::none ? State::done : State::body;
}

AnswerReader::State AnswerReader::read_body() {
  if (framing_.kind == Framing::Kind::chunked) return read_chunks();
  std::size_t taken = input_.size();
  if (framing_.kind == Framing::Kind::length)
    taken = std::min<std::size_t>(taken, framing_.length - body_.size());
  if (!append(std::string_view(input_).substr(0, taken))) return state_;
  input_.clear();
  if (framing_.kind == Framing::Kind::length && body_.size() == framing_.length)
    state_ = State::done;
  return state_;
}

AnswerReader::State AnswerReader::read_chunks() {
  using Event = ChunkedDecoder::Event;
  std::size_t consumed = 0;
  for (;;) {
    const auto step = chunks_.next(std::string_view(input_).substr(consumed));
    consumed += step.consumed;
    if (step.event == Event::payload && !append(step.payload)) return state_;
    if (step.event == Event::malformed)
      return fail(std::string("its body is invalid: ").append(chunks_.fault()));
    if (step.event == Event::done) return state_ = State::done;
    if (step.event == Event::need_more) break;
  }
  input_.erase(0, consumed);
  return state_;
}

/// False if the body is too large.
bool AnswerReader::append(std::string_view payload) {
  if (payload.size() > limits_.body - body_.size()) {
    fail("its body is larger than " + std::to_string(limits_.body) + " bytes");
    return false;
  }
  body_ += payload;
  return true;
}

AnswerReader::State AnswerReader::fail(std::string problem) {
  problem_ = std::move(problem);
  input_ = {};
  body_ = {};
  return state_ = State::failed;
}

}  // namespace weir::http
