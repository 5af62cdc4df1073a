// Compares the name of a member of an object (RFC 8259 section 4) with the reference tokens of
// several JSON pointers while it arrives, and keeps the pointers that match.
//
// Escapes are decoded first: "t\u006ftal" is "total", and a pair of surrogates is one character
// (RFC 8259 section 7). A name with an escape that is not valid, or with half a pair, matches no
// pointer; it still ends at its quotation mark. Constant memory, no copy of the name. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "usage/json_pointer.hpp"
#include "usage/pointer_set.hpp"

namespace weir::usage {

class KeyMatcher {
 public:
  explicit KeyMatcher(std::span<const JsonPointer> pointers) : pointers_(pointers) {}

  /// Starts a name, after its opening quotation mark, that is compared with the reference token
  /// number `level` of the candidates; `level` - 1 of those that are also in `elements`.
  void start(PointerSet candidates, PointerSet elements, std::size_t level);

  /// Reads from [at, end) up to and including the closing quotation mark. Returns the end of the
  /// bytes read: is_complete(), or `end`.
  const char* read(const char* at, const char* end);

  bool is_complete() const { return state_ == State::complete; }
  /// Returns the pointers that match, once the name is complete.
  PointerSet matches() const { return candidates_; }

 private:
  enum class State : std::uint8_t { text, escape, hexadecimal, complete };

  const char* read_text(const char* at, const char* end);
  void read_escape(char c);
  bool read_hexadecimal(char c);
  void add_code_unit(std::uint32_t unit);
  void add_character(std::uint32_t code_point);
  void compare(std::string_view part);
  void complete();
  std::string_view name_of(std::size_t pointer) const;

  std::span<const JsonPointer> pointers_;
  PointerSet candidates_ = 0;
  PointerSet elements_ = 0;
  std::size_t level_ = 0;
  std::size_t size_ = 0;  ///< bytes of the decoded name so far
  State state_ = State::complete;
  std::uint8_t digits_ = 0;           ///< of \uXXXX
  std::uint32_t unit_ = 0;            ///< their value
  std::uint32_t high_surrogate_ = 0;  ///< waits for the other half; 0: none
};

}  // namespace weir::usage
