// The head of a message as HTTP/2 sends it: pseudo-header fields and fields, one by one (RFC 9113
// section 8.3).
//
// Bounded: what exceeds the limits is counted and dropped. The crumbs of Cookie are joined (section
// 8.2.3). The views are valid from finish() until clear(); the memory is kept for the next request.
// Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/request_view.hpp"

namespace weir::http {

/// Counted for each field beside its bytes, so that empty fields are not free (RFC 9113 section
/// 10.5.1 and RFC 7541 section 4.1).
inline constexpr std::size_t field_overhead = 32;

class HeaderList {
 public:
  /// `most_bytes`: of the whole list, with field_overhead for each field.
  void begin(std::size_t most_bytes);
  /// Adds the next field; its bytes are copied. The caller has checked that the name has no
  /// upper-case letters, and that no pseudo-header field is unknown or comes twice.
  void add(std::string_view name, std::string_view value, bool is_never_indexed = false);
  /// Bytes of all fields with field_overhead, those that were dropped included.
  std::size_t size() const { return size_; }
  /// Bytes that its memory has room for.
  std::size_t buffer_size() const { return text_.capacity() + places_.capacity() * sizeof(Place); }
  /// True if fields were dropped: there are more bytes than allowed, or more than most_fields.
  bool is_too_large() const { return is_too_large_; }

  /// Makes the views; `fields` gets the fields without the pseudo-header fields. The crumbs of
  /// Cookie are one field at the place of the first.
  void finish(std::vector<FieldView>& fields);

  std::string_view method() const { return pseudo(0); }
  std::string_view scheme() const { return pseudo(1); }
  std::string_view authority() const { return pseudo(2); }
  std::string_view path() const { return pseudo(3); }
  std::string_view protocol() const { return pseudo(4); }  ///< RFC 8441
  std::string_view status() const { return pseudo(5); }    ///< of a response: three digits

 private:
  /// A part of `text_`, which grows.
  struct Piece {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  struct Place {
    Piece name;
    Piece value;
    bool is_cookie = false;
    bool is_never_indexed = false;
  };

  static constexpr std::array<std::string_view, 6> pseudo_names{
      ":method", ":scheme", ":authority", ":path", ":protocol", ":status"};

  Piece keep(std::string_view text);
  std::string_view text_of(Piece piece) const { return {text_.data() + piece.begin, piece.size}; }
  std::string_view pseudo(std::size_t index) const { return text_of(pseudo_[index]); }
  Piece join_cookies();

  std::string text_;
  std::vector<Place> places_;
  std::array<Piece, pseudo_names.size()> pseudo_{};
  std::size_t cookies_ = 0;
  bool has_secret_crumb_ = false;  ///< a crumb of Cookie is never indexed
  std::size_t most_bytes_ = 0;
  std::size_t size_ = 0;
  std::size_t count_ = 0;
  bool is_too_large_ = false;
};

}  // namespace weir::http
