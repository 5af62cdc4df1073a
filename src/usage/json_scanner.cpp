#include "usage/json_scanner.hpp"

#include <cassert>

#include "usage/find_byte.hpp"

namespace weir::usage {
namespace {

/// Bytes that end a number or a literal.
constexpr std::array<bool, 256> scalar_ends = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view{" \t\r\n,:[]{}\""})
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();

constexpr bool ends_scalar(char c) {
  return scalar_ends[static_cast<unsigned char>(c)];
}

/// ws, RFC 8259 section 2.
constexpr bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Returns a bit that is set in Level::name_filter if the name may be one that a pointer needs.
constexpr std::uint64_t filter_bit(std::string_view name) {
  const std::size_t first = name.empty() ? 0 : static_cast<unsigned char>(name.front());
  return std::uint64_t{1} << (name.size() * 8 + first) % 64;
}

constexpr std::string_view between(const char* at, const char* end) {
  return {at, static_cast<std::size_t>(end - at)};
}

/// Returns the position after `c` and one space, or `end` if something else follows.
const char* after(char c, const char* at, const char* end) {
  if (at == end || *at != c) return end;
  ++at;
  return at != end && *at == ' ' ? at + 1 : at;
}

/// Returns the end of a string without escapes, a number or a literal; `end` if it does not end
/// before, or another value follows.
const char* end_of_plain_value(const char* at, const char* end) {
  if (at != end && *at == '"') {
    at = find_either<'"', '\\'>(at + 1, end);
    return at == end || *at == '\\' ? end : at + 1;
  }
  const char* const start = at;
  while (at != end && !ends_scalar(*at))
    ++at;
  return at == start ? end : at;
}

}  // namespace

JsonScanner::JsonScanner(std::span<const JsonPointer> pointers)
    : pointers_(pointers),
      all_(static_cast<PointerSet>((std::uint64_t{1} << pointers.size()) - 1)),
      with_index_(those_of(all_,
                           [&](std::size_t pointer) {
                             return pointers[pointer][0].index != ReferenceToken::no_index;
                           })),
      key_(pointers) {
  assert(pointers.size() <= most_pointers);
}

void JsonScanner::feed(std::string_view piece) {
  const char* at = piece.data();
  const char* const end = at + piece.size();
  while (at != end) {
    switch (state_) {
      case State::key_start:
        at = pass_members(at, end);
        if (at != end) at = read_key(at, end);
        break;
      case State::key:
        at = read_key(at, end);
        break;
      case State::scalar:
        at = read_scalar(at, end);
        break;
      case State::string_escape:
        state_ = State::string;
        ++at;
        break;
      case State::string:
        at = read_string(at, end);
        break;
      case State::skipped:
        at = skip(at, end);
        break;
      case State::failed:
        return;
      default:
        at = read_punctuation(at, end);
    }
  }
}

const char* JsonScanner::read_punctuation(const char* at, const char* end) {
  while (is_blank(*at)) {
    if (++at == end) return at;
  }
  accept(*at);
  return state_ == State::scalar ? at : at + 1;
}

/// Accepts a byte that is not white space, between two strings or scalars.
void JsonScanner::accept(char c) {
  switch (state_) {
    case State::document:
      selected_ = all_;
      return start_value(c);
    case State::first_element:
      if (c == ']') return close(true);
      selected_ = select_element();
      return start_value(c);
    case State::value:
      return start_value(c);
    case State::first_key:
      if (c == '}') return close(false);
      [[fallthrough]];
    case State::next_key:
      state_ = State::key_start;
      return c == '"' ? void() : fail();
    case State::colon:
      state_ = State::value;
      return c == ':' ? void() : fail();
    default:  // after_value
      if (c == ']' || c == '}') return close(c == ']');
      if (c != ',') return fail();
      if (!levels_[depth_ - 1].is_array) {
        state_ = State::next_key;
      } else {
        state_ = State::value;
        selected_ = select_element();
      }
  }
}

void JsonScanner::start_value(char c) {
  if (c == '{' || c == '[') return open(c == '[');
  if (c != '"' && ends_scalar(c)) return fail();
  // A value replaces those of an earlier member with the same name.
  pending_ &= ~selected_;
  targets_ = those_of(selected_, [&](std::size_t pointer) { return ends_here(pointer); });
  if (c == '"') {
    findings_.not_counts |= targets_;
    state_ = State::string;
  } else {
    number_ = {};
    state_ = State::scalar;
  }
}

/// Passes over members that no pointer selects, for speed only: stops in front of the first name
/// whose member is not whole and plain, and the general functions go on from there.
const char* JsonScanner::pass_members(const char* at, const char* end) const {
  const std::uint64_t filter = levels_[depth_ - 1].name_filter;
  for (;;) {
    const char* const name_end = find_either<'"', '\\'>(at, end);
    if (name_end == end || *name_end == '\\') return at;
    if ((filter & filter_bit(between(at, name_end))) != 0) return at;
    const char* const value = after(':', name_end + 1, end);
    const char* const value_end = end_of_plain_value(value, end);
    const char* const next = after(',', value_end, end);
    if (next == end || *next != '"') return at;
    at = next + 1;
  }
}

/// Reads a name and selects the pointers that lead to the value of this member. Most names arrive
/// whole and without escapes, and pass_members() compared most of them already.
const char* JsonScanner::read_key(const char* at, const char* end) {
  const Level& level = levels_[depth_ - 1];
  if (state_ == State::key_start) {
    const char* const stop = find_either<'"', '\\'>(at, end);
    if (stop != end && *stop == '"') {
      const std::string_view name = between(at, stop);
      selected_ = those_of(level.entering,
                           [&](std::size_t pointer) { return token_of(pointer).text == name; });
      state_ = State::colon;
      return stop + 1;
    }
    key_.start(level.entering, elements_, depth_ - 1);
    state_ = State::key;
  }
  at = key_.read(at, end);
  if (key_.is_complete()) {
    selected_ = key_.matches();
    state_ = State::colon;
  }
  return at;
}

void JsonScanner::open(bool is_array) {
  pending_ &= ~selected_;
  const PointerSet ending =
      those_of(selected_, [&](std::size_t pointer) { return ends_here(pointer); });
  findings_.not_counts |= ending;
  if (depth_ == 0) elements_ = is_array ? all_ & ~with_index_ : 0;
  const PointerSet entering = selected_ & ~ending;
  if (entering == 0) {
    skipped_depth_ = 1;
    state_ = State::skipped;
    return;
  }
  Level& level = levels_[depth_++];
  level = {.entering = entering, .is_array = is_array};
  for_each_pointer(entering & (depth_ == 1 ? ~elements_ : entering), [&](std::size_t pointer) {
    level.name_filter |= filter_bit(token_of(pointer).text);
  });
  state_ = is_array ? State::first_element : State::first_key;
}

void JsonScanner::close(bool is_array) {
  if (levels_[depth_ - 1].is_array != is_array) return fail();
  --depth_;
  finish_value();
}

/// Reads the rest of a string that is not a key.
const char* JsonScanner::read_string(const char* at, const char* end) {
  for (;;) {
    at = find_either<'"', '\\'>(at, end);
    if (at == end) return end;
    if (*at++ == '"') break;
    if (at == end) {
      state_ = State::string_escape;
      return end;
    }
    ++at;
  }
  if (skipped_depth_ > 0) {
    state_ = State::skipped;
  } else {
    finish_value();
  }
  return at;
}

const char* JsonScanner::read_scalar(const char* at, const char* end) {
  const char* const start = at;
  while (at != end && !ends_scalar(*at))
    ++at;
  if (targets_ != 0) number_.accept(between(start, at));
  if (at != end) finish_scalar();
  return at;
}

void JsonScanner::finish_scalar() {
  if (targets_ != 0) {
    const auto count = number_.value();
    if (count) {
      pending_ |= targets_;
      for_each_pointer(targets_, [&](std::size_t pointer) { pending_counts_[pointer] = *count; });
    } else {
      findings_.not_counts |= targets_;
    }
  }
  finish_value();
}

/// Skips up to the end of the object or array that no pointer enters: by blocks as far as possible,
/// then about one block by its strings and brackets.
const char* JsonScanner::skip(const char* at, const char* end) {
  at = skip_blocks(at, end);
  const char* const start = at;
  while (state_ == State::skipped && at - start < Block::size) {
    at = find_structure(at, end);
    if (at == end) return end;
    const char c = *at++;
    if (c == '"') {
      state_ = State::string;
      at = read_string(at, end);
    } else if (is_opening(c)) {
      ++skipped_depth_;
    } else if (--skipped_depth_ == 0) {
      finish_value();
    }
  }
  return at;
}

/// Skips blocks of 64 bytes by their brackets outside of strings, for speed only. Stops in front of
/// a block that has a backslash.
const char* JsonScanner::skip_blocks(const char* at, const char* end) {
  std::uint64_t in_string = 0;  // all bits or none, at the start of the block
  for (; end - at >= Block::size; at += Block::size) {
    const Block block(at);
    if (block.backslashes != 0) break;
    const std::uint64_t strings = prefix_parity(block.quotes) ^ in_string;
    const std::uint64_t openings = block.openings & ~strings;
    const std::uint64_t closings = block.closings & ~strings;
    for (std::uint64_t brackets = openings | closings; brackets != 0; brackets &= brackets - 1) {
      const std::uint64_t lowest = brackets & -brackets;
      if ((openings & lowest) != 0) {
        ++skipped_depth_;
      } else if (--skipped_depth_ == 0) {
        finish_value();
        return at + std::countr_zero(lowest) + 1;
      }
    }
    in_string = strings >> 63 != 0 ? ~std::uint64_t{0} : 0;
  }
  if (in_string != 0) state_ = State::string;
  return at;
}

/// Returns the pointers that lead to, or into, the next element of the innermost array.
PointerSet JsonScanner::select_element() {
  Level& level = levels_[depth_ - 1];
  const std::uint64_t index = level.next_index++;
  const PointerSet of_each = depth_ == 1 ? elements_ : 0;
  return of_each | those_of(level.entering & ~of_each,
                            [&](std::size_t pointer) { return token_of(pointer).index == index; });
}

/// True if all reference tokens of a selected pointer have been matched.
bool JsonScanner::ends_here(std::size_t pointer) const {
  return pointers_[pointer].depth() == depth_ - (contains(elements_, pointer) ? 1 : 0);
}

/// Returns the reference token that a pointer compares in the innermost level.
const ReferenceToken& JsonScanner::token_of(std::size_t pointer) const {
  return pointers_[pointer][depth_ - 1 - (contains(elements_, pointer) ? 1 : 0)];
}

void JsonScanner::finish_value() {
  state_ = depth_ == 0 ? State::document : State::after_value;
  if (depth_ == 0) {
    commit(all_);
    elements_ = 0;
  } else if (depth_ == 1) {
    commit(elements_);
  }
}

void JsonScanner::commit(PointerSet pointers) {
  const PointerSet committed = pending_ & pointers;
  for_each_pointer(committed, [&](std::size_t pointer) {
    findings_.counts[pointer] = pending_counts_[pointer];
  });
  findings_.found |= committed;
  findings_.doubtful &= ~committed;
  pending_ &= ~committed;
}

void JsonScanner::fail() {
  commit(all_);
  doubt();
  state_ = State::failed;
}

void JsonScanner::end_document() {
  if (depth_ > 0 || skipped_depth_ > 0) fail();
  state_ = State::document;
  depth_ = 0;
  skipped_depth_ = 0;
  elements_ = 0;
  selected_ = 0;
}

}  // namespace weir::usage
