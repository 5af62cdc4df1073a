// Finds the counts at JSON pointers in JSON text (RFC 8259) that arrives in arbitrary pieces.
//
// One pass in constant memory: no tree, no copy, no allocation. An object or array that no pointer
// enters is skipped: only its strings and brackets are read. So the depth of the text is not
// limited, and only the pointers' depth takes memory.
//
// Rules:
// - The text is a sequence of documents, with or without white space between them. For each pointer
//   the last document that has a count there wins. end_document() ends a document at the end of a
//   line or an event, where the surrounding format ends it.
// - If the document is an array (Gemini's streamGenerateContent), a pointer that does not begin
//   with an index cannot match the array itself (RFC 6901 section 4). It is applied to each element
//   as to a document of its own.
// - A name that appears twice in an object: the last member wins, also if it is null, as in most
//   parsers (RFC 8259 section 4). So an earlier count of this document no longer counts.
// - A count is a whole number from 0, in any notation (number_reader.hpp). Every other value is
//   missing in its document: null, "5", -1, 0.5, an object.
// - If the text is truncated or malformed, counts that were complete before the error count. Every
//   pointer becomes doubtful (Findings), so that the caller can charge at least its estimate.
//   A number that the end of the text cuts off is not complete. After an error, the rest up to
//   end_document() is ignored.
// - Tolerant where the meaning is clear: values that no pointer selects may be NaN or Infinity, and
//   strings may have control characters, wrong escapes and ill-formed UTF-8. Within what is
//   skipped, the kinds of brackets are not compared.
//
// Not thread-safe. The pointers must outlive the scanner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "usage/json_pointer.hpp"
#include "usage/key_matcher.hpp"
#include "usage/number_reader.hpp"
#include "usage/pointer_set.hpp"

namespace weir::usage {

/// The counts that a scanner has found so far, by pointer.
struct Findings {
  std::array<std::int64_t, most_pointers> counts{};  ///< valid for `found`
  PointerSet found = 0;
  /// Pointers that led to a value that is not a count, in some document.
  PointerSet not_counts = 0;
  /// Pointers whose last value may be missing here: a document was truncated or malformed, and no
  /// complete one after it had a count.
  PointerSet doubtful = 0;
};

class JsonScanner {
 public:
  /// At most most_pointers.
  explicit JsonScanner(std::span<const JsonPointer> pointers);

  void feed(std::string_view piece);
  /// Ends the document. One that is not complete makes every pointer doubtful; a truncated string
  /// or literal outside of objects and arrays does not, because no pointer leads into it.
  void end_document();
  /// Marks every pointer as doubtful: the body is malformed outside of this text, or was cut off.
  void doubt() { findings_.doubtful = all_; }

  const Findings& findings() const { return findings_; }

 private:
  enum class State : std::uint8_t {
    document,       // between documents
    value,          // after a colon, or a comma of an array
    first_element,  // a value or the end of the array
    first_key,      // a key or the end of the object
    next_key,
    key_start,  // after the opening quotation mark
    key,        // in a name that has an escape or arrives in pieces
    colon,
    after_value,  // a comma or the end
    scalar,       // a number or a literal
    string,
    string_escape,
    skipped,  // in an object or array that no pointer enters, outside of strings
    failed,
  };
  /// An open object or array that a pointer enters.
  struct Level {
    PointerSet entering = 0;        ///< pointers that continue in it
    std::uint64_t name_filter = 0;  ///< the filter bits of the names they need
    bool is_array = false;
    std::uint64_t next_index = 0;
  };

  const char* read_punctuation(const char* at, const char* end);
  void accept(char c);
  void start_value(char c);
  const char* pass_members(const char* at, const char* end) const;
  const char* read_key(const char* at, const char* end);
  void open(bool is_array);
  void close(bool is_array);
  const char* read_string(const char* at, const char* end);
  const char* read_scalar(const char* at, const char* end);
  void finish_scalar();
  const char* skip(const char* at, const char* end);
  const char* skip_blocks(const char* at, const char* end);
  PointerSet select_element();
  bool ends_here(std::size_t pointer) const;
  const ReferenceToken& token_of(std::size_t pointer) const;
  void finish_value();
  void commit(PointerSet pointers);
  void fail();

  std::span<const JsonPointer> pointers_;
  PointerSet all_;
  PointerSet with_index_;  ///< pointers that begin with an index
  KeyMatcher key_;
  NumberReader number_;
  State state_ = State::document;
  PointerSet selected_ = 0;  ///< pointers that lead to, or into, the current value
  PointerSet targets_ = 0;   ///< pointers that end at the current scalar
  PointerSet elements_ = 0;  ///< pointers that are applied to the elements of the document
  std::size_t depth_ = 0;    ///< open levels
  std::array<Level, JsonPointer::deepest + 1> levels_{};
  std::uint64_t skipped_depth_ = 0;  ///< open brackets of what is skipped
  PointerSet pending_ = 0;           ///< found in the current document
  std::array<std::int64_t, most_pointers> pending_counts_{};
  Findings findings_;
};

}  // namespace weir::usage
