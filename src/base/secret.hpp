// A value that must never be printed: it has no stream operator and no implicit conversion, and
// code that needs the text calls reveal().
#pragma once

#include <string>
#include <utility>

namespace weir {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}

  bool empty() const { return text_.empty(); }
  const std::string& reveal() const { return text_; }
  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  std::string text_;
};

}  // namespace weir
