#include "proxy/head_parser.hpp"

#include <algorithm>
#include <cstdint>

#include "http/characters.hpp"
#include "proxy/failure.hpp"

namespace weir::proxy {
namespace {

namespace beast = boost::beast::http;
using beast_view = boost::beast::string_view;
using boost::beast::error_code;

std::string_view view_of(beast_view text) {
  return {text.data(), text.size()};
}

/// Bodies are not read here: a head ends the parse.
template <bool is_request, class StartLine>
class HeadParser final : public beast::basic_parser<is_request> {
 public:
  HeadParser(std::string_view head, std::vector<http::FieldView>& fields)
      : head_(head), fields_(fields) {
    this->skip(true);
    this->header_limit(static_cast<std::uint32_t>(head.size()) + 1);
    fields_.clear();
  }

  std::optional<StartLine> parse() {
    error_code ec;
    const std::size_t parsed = this->put({head_.data(), head_.size()}, ec);
    // On success the parser stops right behind the empty line.
    if (ec || parsed != head_.size()) return std::nullopt;
    return line_;
  }

 private:
  void on_request_impl(beast::verb, beast_view method, beast_view target, int version,
                       error_code&) override {
    if constexpr (is_request) line_ = {view_of(method), view_of(target), version};
  }
  void on_response_impl(int code, beast_view reason, int version, error_code&) override {
    if constexpr (!is_request) line_ = {code, view_of(reason), version};
  }
  void on_field_impl(beast::field id, beast_view name, beast_view value, error_code& ec) override {
    if (is_folded(name, value)) {
      ec = beast::error::bad_value;
    } else if (fields_.size() == most_fields) {
      ec = beast::error::header_limit;
    } else {
      fields_.push_back({.id = id, .name = view_of(name), .value = view_of(value)});
    }
  }
  /// The parser unfolds values (into its own stack, or, if their first line is empty, by passing
  /// over it). To be refused: RFC 9112 section 5.2. The empty line bounds what is looked at.
  static bool is_folded(beast_view name, beast_view value) {
    const char* at = after_white_space(name.data() + name.size() + 1);
    if (!value.empty()) {
      if (at != value.data()) return true;
      at = after_white_space(value.data() + value.size());
    }
    return *at != '\r' || http::is_white_space(at[2]);
  }
  static const char* after_white_space(const char* at) {
    while (http::is_white_space(*at))
      ++at;
    return at;
  }

  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(beast_view body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, beast_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast_view body, error_code&) override {
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  std::string_view head_;
  std::vector<http::FieldView>& fields_;
  StartLine line_;
};

/// "HTTP/" DIGIT "." DIGIT at the end of the request line, with other digits than ours.
bool has_other_version(std::string_view head) {
  constexpr std::string_view form = " HTTP/x.x";
  const std::string_view line = head.substr(0, head.find("\r\n"));
  if (line.size() < form.size()) return false;
  const std::string_view end = line.substr(line.size() - form.size());
  const bool is_version = end.starts_with(" HTTP/") && http::is_digit(end[6]) && end[7] == '.' &&
                          http::is_digit(end[8]);
  return is_version && end != " HTTP/1.1" && end != " HTTP/1.0";
}

bool has_bare_lf(std::string_view data, std::size_t from) {
  for (std::size_t at = data.find('\n', from); at != std::string_view::npos;
       at = data.find('\n', at + 1)) {
    if (at == 0 || data[at - 1] != '\r') return true;
  }
  return false;
}

}  // namespace

HeadEnd find_head_end(std::string_view data, std::size_t& scanned) {
  constexpr std::string_view empty_line = "\r\n\r\n";
  const std::size_t from = scanned < empty_line.size() ? 0 : scanned - (empty_line.size() - 1);
  const std::size_t at = data.find(empty_line, from);
  if (at != std::string_view::npos) {
    return {.state = HeadEnd::State::complete, .size = at + empty_line.size()};
  }
  const bool malformed = has_bare_lf(data, scanned);
  scanned = data.size();
  return {.state = malformed ? HeadEnd::State::malformed : HeadEnd::State::incomplete};
}

http::Refusal why_refused(std::string_view head, std::span<const http::FieldView> fields) {
  if (fields.size() == most_fields) return answer_to(Failure::head_too_large);
  if (has_other_version(head)) return {505, "the version is neither HTTP/1.1 nor HTTP/1.0"};
  return answer_to(Failure::head_malformed);
}

bool move_space_behind_colons(std::span<char> head) {
  bool moved = false;
  for (auto at = std::find(head.begin(), head.end(), '\n'); at != head.end();
       at = std::find(at, head.end(), '\n')) {
    ++at;
    const auto colon = std::find_if(at, head.end(), [](char c) { return c == ':' || c == '\r'; });
    if (colon == head.end() || *colon != ':') continue;
    auto name_end = colon;
    while (name_end != at && http::is_white_space(name_end[-1]))
      --name_end;
    if (name_end == colon || name_end == at) continue;
    std::iter_swap(name_end, colon);
    moved = true;
  }
  return moved;
}

std::optional<RequestLine> parse_request_head(std::string_view head,
                                              std::vector<http::FieldView>& fields) {
  return HeadParser<true, RequestLine>(head, fields).parse();
}

std::optional<StatusLine> parse_response_head(std::string_view head,
                                              std::vector<http::FieldView>& fields) {
  return HeadParser<false, StatusLine>(head, fields).parse();
}

}  // namespace weir::proxy
