// Appends many small pieces to a string. Capacity for many pieces is reserved at once and written
// through a pointer, whereas std::string::append() checks the capacity in a call for each piece. No
// locale, no format string. For one thread.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace weir {

/// Appends one number, where no Appender is at work.
template <int base = 10, std::integral Number>
void append_number(std::string& out, Number number) {
  char digits[66];
  const char* const end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));  // by iterators it is slower
}

class Appender {
 public:
  /// `out` must not be used otherwise until this object is destroyed.
  explicit Appender(std::string& out) : out_(out), at_(out.data() + out.size()), end_(at_) {}
  ~Appender() { out_.resize(size()); }
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  // A literal's length is known where it is inlined, and copying it is a move or two.
  [[gnu::always_inline]] Appender& add(std::string_view text) { return add_all(text); }
  /// Appends several texts, for which room is made at once.
  template <std::same_as<std::string_view>... Texts>
  [[gnu::always_inline]] Appender& add_all(Texts... texts) {
    make_room((texts.size() + ...));
    (copy(texts), ...);
    return *this;
  }
  Appender& add(char c) {
    make_room(1);
    *at_++ = c;
    return *this;
  }
  template <std::integral Number>
  Appender& number(Number value) {
    make_room(longest_number);
    at_ = std::to_chars(at_, end_, value).ptr;
    return *this;
  }
  /// The length of the string with what has been appended.
  std::size_t size() const { return static_cast<std::size_t>(at_ - out_.data()); }
  /// Appends the last `Digits` decimal digits of `value`, with leading zeros.
  template <std::size_t Digits>
  Appender& padded(std::unsigned_integral auto value) {
    make_room(Digits);
    at_ += Digits;
    for (std::size_t i = 1; i <= Digits; ++i, value /= 10) {
      at_[-static_cast<std::ptrdiff_t>(i)] = static_cast<char>('0' + value % 10);
    }
    return *this;
  }

 private:
  static constexpr std::size_t longest_number = 20;  ///< -9223372036854775808
  static constexpr std::size_t step = 512;  ///< about the length of a line of the access log

  [[gnu::always_inline]] void copy(std::string_view text) {
    if (!text.empty())
      std::memcpy(at_, text.data(), text.size());  // an empty text may be at nullptr
    at_ += text.size();
  }
  void make_room(std::size_t more) {
    if (static_cast<std::size_t>(end_ - at_) < more) grow(more);
  }
  [[gnu::noinline]] void grow(std::size_t more) {
    const std::size_t used = size();
    // Uses the capacity if it is enough, because growing copies.
    const std::size_t wanted = used + std::max(more, step);
    out_.resize(used + more > out_.capacity() ? wanted : std::min(wanted, out_.capacity()));
    at_ = out_.data() + used;
    end_ = out_.data() + out_.size();
  }

  std::string& out_;
  char* at_;
  char* end_;
};

}  // namespace weir
