// A value that must never be printed: it has no stream operator and no implicit conversion, and
// code that needs the text calls reveal(). The time of a comparison does not depend on the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace weir {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}

  bool empty() const { return text_.empty(); }
  /// Not to be compared: `==` of texts ends at the first difference, so that a client could find
  /// the text byte by byte. The lint rejects it.
  const std::string& reveal() const { return text_; }
  /// Whether `given` is the text. Takes the same time wherever the first difference is; only the
  /// length of the text can be measured.
  bool equals(std::string_view given) const {
    unsigned difference = given.size() == text_.size() ? 0 : 1;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = i < given.size() ? given[i] : '\0';
      difference |= static_cast<unsigned char>(c ^ text_[i]);
    }
    return difference == 0;
  }
  friend bool operator==(const Secret& one, const Secret& other) { return one.equals(other.text_); }

 private:
  std::string text_;
};

}  // namespace weir
