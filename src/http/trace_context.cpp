#include "http/trace_context.hpp"

#include <algorithm>

namespace weir::http {
namespace {

constexpr std::size_t trace_version_size = 2;
constexpr std::size_t trace_id_size = 32;
constexpr std::size_t parent_id_size = 16;
constexpr std::size_t trace_flags_size = 2;
constexpr std::size_t whole_size =
    trace_version_size + trace_id_size + parent_id_size + trace_flags_size + 3;

bool is_lower_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) {
  return is_lower_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

std::uint8_t digit_of(char c) {
  return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10);
}

/// Writes 16 digits.
char* put_hex_digits(char* to, std::uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4)
    *to++ = "0123456789abcdef"[number >> shift & 0xf];
  return to;
}

/// Writes the parent and the flags, of which only the lowest digit is defined.
void put_end(char* to, std::uint64_t parent, std::uint8_t flags) {
  *to++ = '-';
  to = put_hex_digits(to, parent == 0 ? 1 : parent);
  to = std::ranges::copy(std::string_view("-0"), to).out;
  *to = "0123"[flags & (sampled_flag | random_flag)];
}

}  // namespace

TraceParent trace_parent_of(std::string_view traceparent) {
  if (traceparent.size() < whole_size) return {};
  constexpr std::size_t trace_at = trace_version_size + 1;
  constexpr std::size_t parent_at = trace_at + trace_id_size + 1;
  constexpr std::size_t flags_at = parent_at + parent_id_size + 1;
  const auto is_dash = [&](std::size_t at) { return traceparent[at] == '-'; };
  if (!is_dash(trace_at - 1) || !is_dash(parent_at - 1) || !is_dash(flags_at - 1)) return {};
  const auto version = traceparent.substr(0, trace_version_size);
  const auto trace = traceparent.substr(trace_at, trace_id_size);
  const auto parent = traceparent.substr(parent_at, parent_id_size);
  const auto flags = traceparent.substr(flags_at, trace_flags_size);
  const bool is_valid = is_lower_hex(version) && version != "ff" && is_id(trace) && is_id(parent) &&
                        is_lower_hex(flags);
  const bool may_be_longer =
      version != "00" && traceparent.size() > whole_size && is_dash(whole_size);
  if (!is_valid || (traceparent.size() > whole_size && !may_be_longer)) return {};
  return {.trace_id = trace,
          .parent_id = parent,
          .flags = static_cast<std::uint8_t>(digit_of(flags[0]) << 4 | digit_of(flags[1]))};
}

TraceParent trace_parent_of(const RequestView& request) {
  const FieldView* only = nullptr;
  for (const auto& field : request.fields) {
    if (field.id != FieldId::unknown || !iequals(field.name, "traceparent")) continue;
    if (only != nullptr) return {};
    only = &field;
  }
  return only == nullptr ? TraceParent() : trace_parent_of(only->value);
}

std::string_view trace_id_of(std::string_view traceparent) {
  return trace_parent_of(traceparent).trace_id;
}

std::string_view trace_id_of(const RequestView& request) {
  return trace_parent_of(request).trace_id;
}

TraceparentText new_traceparent(const Hash128& trace, std::uint64_t parent, std::uint8_t flags) {
  const bool is_zero = (trace.high | trace.low) == 0;
  TraceparentText text;
  char* to = std::ranges::copy(std::string_view("00-"), text.begin()).out;
  to = put_hex_digits(to, trace.high);
  to = put_hex_digits(to, is_zero ? 1 : trace.low);
  put_end(to, parent, flags);
  return text;
}

TraceparentText continued_traceparent(const TraceParent& from, std::uint64_t parent) {
  TraceparentText text;
  char* to = std::ranges::copy(std::string_view("00-"), text.begin()).out;
  to = std::ranges::copy(from.trace_id, to).out;
  put_end(to, parent, static_cast<std::uint8_t>((from.flags & random_flag) | sampled_flag));
  return text;
}

}  // namespace weir::http
