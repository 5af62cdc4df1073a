// Finds the cost of one request in a message: in the body of a response (`cost_from`), or of a
// request (`reserve`). Picks the format by Content-Type; see json_scanner.hpp and event_stream.hpp
// for the rules of each.
//
// Usage: begin(), then add_field() for each field that the plan names, then, if needs_body(), every
// piece of the body, without transfer coding, to feed(), and finish(). May be used again. The
// scanner copies no part of the body and allocates nothing. Not thread-safe; the plan must outlive
// it and keep its address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "usage/event_stream.hpp"
#include "usage/json_scanner.hpp"
#include "usage/usage_plan.hpp"

namespace weir::usage {

/// The UTF-8 byte order mark at the start of a body: a reader of JSON may ignore it (RFC 8259
/// section 8.1), a reader of events must (WHATWG Encoding, "UTF-8 decode"). It may arrive in
/// several pieces.
class ByteOrderMark {
 public:
  /// Removes the bytes of the mark from the front of the piece; to be called for every piece.
  /// Returns bytes that were removed but, as the piece shows, do not begin a mark: they precede it.
  std::string_view remove_from(std::string_view& piece) {
    while (is_open_ && !piece.empty()) {
      is_open_ = piece.front() == mark[removed_];
      if (!is_open_) return mark.substr(0, removed_);
      piece.remove_prefix(1);
      is_open_ = ++removed_ < mark.size();
    }
    return {};
  }

 private:
  static constexpr std::string_view mark = "\xef\xbb\xbf";

  std::size_t removed_ = 0;
  bool is_open_ = true;
};

enum class BodyFormat : std::uint8_t {
  other,   ///< not read
  json,    ///< application/json, TYPE/SUBTYPE+json: one document, or several
  lines,   ///< application/x-ndjson, application/jsonl: a document in each line
  events,  ///< text/event-stream: a document in each event
};

/// Returns the format of a body by the value of Content-Type; parameters are ignored, because JSON
/// is always UTF-8 (RFC 8259 section 8.1).
BodyFormat body_format(std::string_view content_type);

enum class BodyEnd : std::uint8_t {
  complete,  ///< as its framing requires
  cut_off,   ///< a party left earlier, or a limit ended the body
};

/// Why there is no cost.
enum class MissingUsage : std::uint8_t {
  none,              ///< there is a cost
  content_type,      ///< the body has no format that is read
  content_encoding,  ///< the body has a coding such as gzip
  incomplete,        ///< not found in a body that is truncated or malformed
  not_a_count,       ///< a pointer leads to a value that is not a whole number from 0
  not_found,         ///< no source has a value
};

/// Returns the name of a reason for metrics and logs, such as "content_type".
std::string_view name_of(MissingUsage reason);

struct Usage {
  std::optional<std::int64_t> cost;  ///< at most largest_count
  std::size_t entry = 0;             ///< of the plan, that has the cost
  /// False if the body was truncated or malformed and a larger or earlier value may be missing: the
  /// caller charges at least its estimate.
  bool is_complete = true;
  MissingUsage missing = MissingUsage::none;
};

class UsageScanner {
 public:
  explicit UsageScanner(const UsagePlan& plan);

  /// Starts a message; without such a field, its value is empty.
  void begin(std::string_view content_type, std::string_view content_encoding);

  /// Passes the value of the field of an entry, of the head or of the trailer section. Not a count:
  /// the entry has no value.
  void add_field(std::size_t entry, std::string_view value);

  /// False if the body cannot change the result any more: feed() ignores it.
  bool needs_body() const;
  void feed(std::string_view piece);
  Usage finish(BodyEnd end);

 private:
  void read(std::string_view piece);
  void read_lines(std::string_view piece);
  std::optional<std::int64_t> sum_of(PointerSet pointers) const;
  MissingUsage reason() const;

  const UsagePlan* plan_;
  BodyFormat format_ = BodyFormat::other;
  bool is_encoded_ = false;
  std::array<std::optional<std::int64_t>, UsagePlan::most_entries> fields_{};
  ByteOrderMark byte_order_mark_;
  EventStream events_;
  JsonScanner scanner_;
};

}  // namespace weir::usage
