#include "proxy/head_parser.hpp"

#include <algorithm>
#include <cstdint>

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
    // A folded value was unfolded into the parser's own stack: it is no view into the head (RFC
    // 9112 section 5.2: refuse).
    if (!value.empty() && !lies_in_head(value.data())) {
      ec = beast::error::bad_value;
    } else if (fields_.size() == most_fields) {
      ec = beast::error::header_limit;
    } else {
      fields_.push_back({.id = id, .name = view_of(name), .value = view_of(value)});
    }
  }
  bool lies_in_head(const char* at) const {
    return at >= head_.data() && at < head_.data() + head_.size();
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

std::optional<RequestLine> parse_request_head(std::string_view head,
                                              std::vector<http::FieldView>& fields) {
  return HeadParser<true, RequestLine>(head, fields).parse();
}

std::optional<StatusLine> parse_response_head(std::string_view head,
                                              std::vector<http::FieldView>& fields) {
  return HeadParser<false, StatusLine>(head, fields).parse();
}

}  // namespace weir::proxy
