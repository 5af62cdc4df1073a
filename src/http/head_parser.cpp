#include "http/head_parser.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/eight_bytes.hpp"
#include "http/characters.hpp"

namespace weir::http {
namespace {

/// True if the head ends in an empty line. A scan over allowed characters then stops at this CRLF
/// at the latest.
bool is_whole(std::string_view head) {
  return head.ends_with("\r\n\r\n");
}

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view token_at(const char* begin) {
  const char* end = begin;
  while (true) {
    if (!is_token_character(end[0])) return between(begin, end);
    if (!is_token_character(end[1])) return between(begin, end + 1);
    if (!is_token_character(end[2])) return between(begin, end + 2);
    if (!is_token_character(end[3])) return between(begin, end + 3);
    end += 4;  // fewer additions than one at a time
  }
}

/// Sets the high bit of each of eight bytes that is a control character, HTAB included. Only the
/// lowest bit set is reliable.
std::uint64_t controls_in(const char* eight) {
  const std::uint64_t bytes = eight_bytes(eight);
  return less_than(bytes, 0x20) | zeros_in(bytes ^ in_each_byte(0x7f));
}

/// True if one of 32 bytes is a control character. GCC and Clang make vector instructions of it.
bool has_control(const char* bytes) {
  using Block = unsigned char __attribute__((vector_size(16)));
  using Words = std::uint64_t __attribute__((vector_size(16)));
  std::array<Block, 2> block;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  std::memcpy(block.data(), bytes, sizeof block);
  const auto controls = [](Block of) { return (of < 0x20) | (of == 0x7f); };
  const auto found = reinterpret_cast<Words>(controls(block[0]) | controls(block[1]));
  return (found[0] | found[1]) != 0;
}

/// Skips blocks without control characters. A function of its own, so that text_at() needs no
/// registers for it.
[[gnu::noinline]] const char* after_blocks(const char* at, const char* head_end) {
  while (head_end - at >= 32 && !has_control(at))
    at += 32;
  return at;
}

/// Returns a field value or a reason phrase, up to the end of the line, if the text reaches it.
std::string_view text_at(const char* begin, const char* head_end) {
  const char* end = begin;
  while (std::endian::native == std::endian::little && head_end - end >= 8) {
    const std::uint64_t controls = controls_in(end);
    end += std::countr_zero(controls) / 8;  // all eight if there is none
    if (controls == 0) {
      // A long value, such as a token, is read in larger blocks; most are short.
      if (end - begin >= 32) end = after_blocks(end, head_end);
      continue;
    }
    if (*end != '\t') return between(begin, end);
    ++end;
  }
  while (end != head_end && !is_control(*end))
    ++end;
  return between(begin, end);
}

/// Returns the visible characters, and bytes from 0x80, which some clients send unencoded.
std::string_view target_at(const char* begin) {
  const char* end = begin;
  while (*end != ' ' && *end != '\t' && !is_control(*end))
    ++end;
  return between(begin, end);
}

const char* end_of(std::string_view text) {
  return text.data() + text.size();
}

bool is_line_end(const char* at) {
  return at[0] == '\r' && at[1] == '\n';
}

/// Returns 11 for "HTTP/1.1" and 10 for "HTTP/1.0"; nothing else is accepted.
std::optional<int> version_of(std::string_view text) {
  if (text == "HTTP/1.1") return 11;
  if (text == "HTTP/1.0") return 10;
  return std::nullopt;
}

constexpr std::size_t version_size = 8;
constexpr std::size_t before_reason = 5;

/// Parses a status such as " 200 OK". The reason may be empty; some servers then omit the space
/// before it, which RFC 9112 section 4 does not allow.
std::optional<int> status_of(std::string_view text) {
  if (text.size() < before_reason - 1 || text[0] != ' ') return std::nullopt;
  if (text.size() >= before_reason && text[4] != ' ') return std::nullopt;
  const std::string_view digits = text.substr(1, 3);
  if (!std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  return (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0');
}

/// Parses the field lines from `at` on and the empty line, after which `end` points (RFC 9112
/// section 5). A line that begins with white space is refused, because it would continue the
/// previous one (section 5.2).
bool parse_fields(const char* at, const char* end, std::vector<FieldView>& fields) {
  while (*at != '\r') {
    const std::string_view name = token_at(at);
    at += name.size();
    if (name.empty() || *at != ':') return false;
    const std::string_view value = text_at(at + 1, end);
    at = value.data() + value.size();
    if (!is_line_end(at) || fields.size() == most_fields) return false;
    at += 2;
    fields.push_back({.id = boost::beast::http::string_to_field({name.data(), name.size()}),
                      .name = name,
                      .value = trimmed(value)});
  }
  return at + 2 == end && is_line_end(at);
}

/// True if the request line ends in "HTTP/" DIGIT "." DIGIT with an unsupported version.
bool has_other_version(std::string_view head) {
  constexpr std::string_view form = " HTTP/x.x";
  const std::string_view line = head.substr(0, head.find("\r\n"));
  if (line.size() < form.size()) return false;
  const std::string_view end = line.substr(line.size() - form.size());
  const bool is_version =
      end.starts_with(" HTTP/") && is_digit(end[6]) && end[7] == '.' && is_digit(end[8]);
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

Refusal why_refused(std::string_view head, std::span<const FieldView> fields) {
  if (fields.size() == most_fields) return head_too_large;
  if (has_other_version(head)) return {505, "the version is neither HTTP/1.1 nor HTTP/1.0"};
  return head_malformed;
}

HeadFault fault_of_large_head(std::string_view begin) {
  if (begin.find("\r\n") != std::string_view::npos) return HeadFault::too_large;
  const auto* const method_end = std::find_if_not(begin.begin(), begin.end(), is_token_character);
  if (method_end == begin.end()) return HeadFault::long_method;
  if (method_end == begin.begin() || *method_end != ' ') return HeadFault::malformed;
  const bool target_has_ended = std::find(method_end + 1, begin.end(), ' ') != begin.end();
  return target_has_ended ? HeadFault::malformed : HeadFault::long_target;
}

bool move_space_behind_colons(std::span<char> head) {
  bool moved = false;
  for (auto at = std::find(head.begin(), head.end(), '\n'); at != head.end();
       at = std::find(at, head.end(), '\n')) {
    ++at;
    const auto colon = std::find_if(at, head.end(), [](char c) { return c == ':' || c == '\r'; });
    if (colon == head.end() || *colon != ':') continue;
    auto name_end = colon;
    while (name_end != at && is_white_space(name_end[-1]))
      --name_end;
    if (name_end == colon || name_end == at) continue;
    std::iter_swap(name_end, colon);
    moved = true;
  }
  return moved;
}

std::optional<RequestLine> parse_request_head(std::string_view head,
                                              std::vector<FieldView>& fields) {
  fields.clear();
  if (!is_whole(head)) return std::nullopt;
  RequestLine line;
  line.method = token_at(head.data());
  const char* at = end_of(line.method);
  if (line.method.empty() || *at != ' ') return std::nullopt;
  line.target = target_at(at + 1);
  at = end_of(line.target);
  if (line.target.empty() || *at != ' ') return std::nullopt;
  const std::string_view version_text = text_at(at + 1, end_of(head));
  const auto version = version_of(version_text);
  at = end_of(version_text);
  if (!version || !is_line_end(at)) return std::nullopt;
  line.version = *version;
  if (!parse_fields(at + 2, end_of(head), fields)) return std::nullopt;
  return line;
}

std::optional<StatusLine> parse_response_head(std::string_view head,
                                              std::vector<FieldView>& fields) {
  fields.clear();
  if (!is_whole(head)) return std::nullopt;
  const auto version = version_of(head.substr(0, version_size));
  const std::string_view rest =
      text_at(head.data() + std::min(version_size, head.size()), end_of(head));
  const auto status = status_of(rest);
  if (!version || !status || !is_line_end(end_of(rest))) return std::nullopt;
  if (!parse_fields(end_of(rest) + 2, end_of(head), fields)) return std::nullopt;
  return StatusLine{.status = *status,
                    .reason = rest.substr(std::min(rest.size(), before_reason)),
                    .version = *version};
}

}  // namespace weir::http
