// The UTF-8 byte order mark at the start of a body: a reader of JSON may ignore it (RFC 8259
// section 8.1), a reader of events must (WHATWG Encoding, "UTF-8 decode"). It may arrive in several
// pieces.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::usage {

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

}  // namespace weir::usage
