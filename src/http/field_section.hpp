// The fields that Weir writes itself: names and values in their order, for a head or a trailer
// section (RFC 9110 section 5).
//
// A reader of names and values does not depend on a protocol. The bytes are kept as the lines of
// HTTP/1, so that its writer copies a section at once; only http/field_lines.hpp uses them.
//
// The section owns the bytes, and the views that it returns are valid until it changes. clear()
// keeps the memory, so a section that is used again allocates nothing. For one thread; a section
// that does not change any more may be read by several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/appender.hpp"

namespace weir::http {

struct FieldView;

struct Field {
  std::string_view name;
  std::string_view value;
  bool is_never_indexed = false;  ///< see FieldView
  friend bool operator==(const Field&, const Field&) = default;
};

class FieldSection {
 public:
  class Iterator {
   public:
    Iterator(const FieldSection& section, std::size_t at) : section_(&section), at_(at) {}
    Field operator*() const { return (*section_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const FieldSection* section_;
    std::size_t at_;
  };

  FieldSection() = default;
  FieldSection(std::initializer_list<Field> fields);

  bool empty() const { return places_.empty(); }
  std::size_t size() const { return places_.size(); }
  Field operator[](std::size_t index) const {
    const Place& place = places_[index];
    const char* const name = lines_.data() + place.begin;
    return {.name = {name, place.name_size},
            .value = {name + place.name_size + separator.size(), place.value_size},
            .is_never_indexed = place.is_never_indexed};
  }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, places_.size()}; }
  /// True if a field has this name, in any case.
  bool contains(std::string_view name) const;

  /// Bytes that its memory has room for.
  std::size_t buffer_size() const { return lines_.capacity() + places_.capacity() * sizeof(Place); }

  void clear() {
    lines_.clear();
    places_.clear();
  }
  void add(std::string_view name, std::string_view value);
  /// Adds a field that was received.
  void add(const FieldView& field);
  /// Adds the fields of another section behind those of this one.
  void add(const FieldSection& other);

  /// Adds a field whose value `build` appends to the Appender that it gets.
  template <class Build>
  void add_built(std::string_view name, const Build& build) {
    Writer writer(*this);
    build(writer.begin(name));
  }

  /// Adds fields whose values are built from pieces. The section must not be used until the writer
  /// is destroyed.
  class Writer {
   public:
    explicit Writer(FieldSection& section) : section_(section), out_(section.lines_) {}
    ~Writer() { end(); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    /// Begins a field. Its value is the text that is appended to the result until the next call.
    [[gnu::always_inline]] Appender& begin(std::string_view name) {
      end();
      section_.places_.push_back({.begin = static_cast<std::uint32_t>(out_.size()),
                                  .name_size = static_cast<std::uint32_t>(name.size()),
                                  .value_size = 0});
      is_begun_ = true;
      return out_.add_all(name, separator);
    }

   private:
    void end() {
      if (!is_begun_) return;
      Place& place = section_.places_.back();
      place.value_size = static_cast<std::uint32_t>(out_.size()) - place.begin - place.name_size -
                         static_cast<std::uint32_t>(separator.size());
      out_.add("\r\n");
    }

    FieldSection& section_;
    Appender out_;
    bool is_begun_ = false;
  };

  friend bool operator==(const FieldSection&, const FieldSection&) = default;

 private:
  friend void append_field_lines(Appender& out, const FieldSection& fields);

  static constexpr std::string_view separator = ": ";

  /// A name in `lines_`, and the value behind it.
  struct Place {
    std::uint32_t begin;
    std::uint32_t name_size;
    std::uint32_t value_size;
    bool is_never_indexed = false;
    friend bool operator==(const Place&, const Place&) = default;
  };

  std::string lines_;  ///< each ended by CRLF
  std::vector<Place> places_;
};

/// An empty section.
inline const FieldSection no_fields;

}  // namespace weir::http
