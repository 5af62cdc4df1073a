#include "http/answer_reader.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "http/freshness.hpp"

namespace weir::http {
namespace {

bool has_content_coding(std::span<const FieldView> fields) {
  return std::ranges::any_of(fields, [](const FieldView& field) {
    return field.id == FieldId::content_encoding && !iequals(field.value, "identity");
  });
}

}  // namespace

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
  if (has_no_end || !(is_success || limits_.reads_any_status)) return state_ = State::done;
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
