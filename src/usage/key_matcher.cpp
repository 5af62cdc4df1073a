#include "usage/key_matcher.hpp"

#include "http/characters.hpp"
#include "usage/find_byte.hpp"

namespace weir::usage {
namespace {

/// Returns the character of an escape with one letter, or NUL.
constexpr char escaped_character(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return '\0';
  }
}

constexpr bool is_high_surrogate(std::uint32_t unit) {
  return unit >= 0xd800 && unit <= 0xdbff;
}
constexpr bool is_low_surrogate(std::uint32_t unit) {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

}  // namespace

void KeyMatcher::start(PointerSet candidates, PointerSet elements, std::size_t level) {
  candidates_ = candidates;
  elements_ = elements;
  level_ = level;
  size_ = 0;
  high_surrogate_ = 0;
  state_ = State::text;
}

const char* KeyMatcher::read(const char* at, const char* end) {
  while (at != end && state_ != State::complete) {
    if (state_ == State::text) {
      at = read_text(at, end);
    } else if (state_ == State::escape) {
      read_escape(*at++);
    } else if (read_hexadecimal(*at)) {
      ++at;
    }
  }
  return at;
}

const char* KeyMatcher::read_text(const char* at, const char* end) {
  const char* const stop = find_either<'"', '\\'>(at, end);
  if (stop != at) compare({at, static_cast<std::size_t>(stop - at)});
  if (stop == end) return end;
  if (*stop == '"') {
    complete();
  } else {
    state_ = State::escape;
  }
  return stop + 1;
}

void KeyMatcher::read_escape(char c) {
  if (c == 'u') {
    state_ = State::hexadecimal;
    digits_ = 0;
    unit_ = 0;
    return;
  }
  state_ = State::text;
  const char decoded = escaped_character(c);
  if (decoded == '\0') {
    candidates_ = 0;
  } else {
    compare({&decoded, 1});
  }
}

/// Returns false if `c` is not a digit: then it belongs to the text after the broken escape, and
/// may be the closing quotation mark.
bool KeyMatcher::read_hexadecimal(char c) {
  const int value = http::hex_value(c);
  if (value < 0) {
    candidates_ = 0;
    state_ = State::text;
    return false;
  }
  unit_ = unit_ << 4 | static_cast<std::uint32_t>(value);
  if (++digits_ == 4) {
    state_ = State::text;
    add_code_unit(unit_);
  }
  return true;
}

void KeyMatcher::add_code_unit(std::uint32_t unit) {
  if (is_high_surrogate(unit) && high_surrogate_ == 0) {
    high_surrogate_ = unit;
  } else if (is_low_surrogate(unit) && high_surrogate_ != 0) {
    const std::uint32_t high = high_surrogate_;
    high_surrogate_ = 0;
    add_character(0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
  } else if (is_high_surrogate(unit) || is_low_surrogate(unit)) {
    candidates_ = 0;
  } else {
    add_character(unit);
  }
}

/// Compares the character as UTF-8 (RFC 3629 section 3).
void KeyMatcher::add_character(std::uint32_t code_point) {
  std::array<char, 4> bytes{};
  std::size_t size = 0;
  const auto add = [&](std::uint32_t byte) { bytes[size++] = static_cast<char>(byte); };
  const auto add_six_bits = [&](std::uint32_t bits) { add(0x80 | (bits & 0x3f)); };
  if (code_point < 0x80) {
    add(code_point);
  } else if (code_point < 0x800) {
    add(0xc0 | code_point >> 6);
    add_six_bits(code_point);
  } else if (code_point < 0x10000) {
    add(0xe0 | code_point >> 12);
    add_six_bits(code_point >> 6);
    add_six_bits(code_point);
  } else {
    add(0xf0 | code_point >> 18);
    add_six_bits(code_point >> 12);
    add_six_bits(code_point >> 6);
    add_six_bits(code_point);
  }
  compare({bytes.data(), size});
}

void KeyMatcher::compare(std::string_view part) {
  if (high_surrogate_ != 0) candidates_ = 0;
  candidates_ = those_of(candidates_, [&](std::size_t pointer) {
    return name_of(pointer).substr(size_).starts_with(part);
  });
  size_ += part.size();
}

void KeyMatcher::complete() {
  if (high_surrogate_ != 0) candidates_ = 0;
  candidates_ =
      those_of(candidates_, [&](std::size_t pointer) { return name_of(pointer).size() == size_; });
  state_ = State::complete;
}

std::string_view KeyMatcher::name_of(std::size_t pointer) const {
  return pointers_[pointer][level_ - (contains(elements_, pointer) ? 1 : 0)].text;
}

}  // namespace weir::usage
