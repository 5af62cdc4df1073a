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

/// Writes 16 digits.
char* put_hex_digits(char* to, std::uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4)
    *to++ = "0123456789abcdef"[number >> shift & 0xf];
  return to;
}

}  // namespace

std::string_view trace_id_of(std::string_view traceparent) {
  if (traceparent.size() < whole_size) return {};
  constexpr std::size_t trace_at = trace_version_size + 1;
  constexpr std::size_t parent_at = trace_at + trace_id_size + 1;
  constexpr std::size_t flags_at = parent_at + parent_id_size + 1;
  const auto is_dash = [&](std::size_t at) { return traceparent[at] == '-'; };
  if (!is_dash(trace_at - 1) || !is_dash(parent_at - 1) || !is_dash(flags_at - 1)) return {};
  const auto version = traceparent.substr(0, trace_version_size);
  const auto trace = traceparent.substr(trace_at, trace_id_size);
  const bool is_valid = is_lower_hex(version) && version != "ff" && is_id(trace) &&
                        is_id(traceparent.substr(parent_at, parent_id_size)) &&
                        is_lower_hex(traceparent.substr(flags_at, trace_flags_size));
  if (!is_valid) return {};
  if (traceparent.size() == whole_size) return trace;
  const bool may_be_longer = version != "00" && is_dash(whole_size);
  return may_be_longer ? trace : std::string_view();
}

std::string_view trace_id_of(const RequestView& request) {
  const FieldView* only = nullptr;
  for (const auto& field : request.fields) {
    if (field.id != FieldId::unknown || !iequals(field.name, "traceparent")) continue;
    if (only != nullptr) return {};
    only = &field;
  }
  return only == nullptr ? std::string_view() : trace_id_of(only->value);
}

TraceparentText new_traceparent(const Hash128& trace, std::uint64_t parent) {
  const bool is_zero = (trace.high | trace.low) == 0;
  TraceparentText text;
  char* to = std::ranges::copy(std::string_view("00-"), text.begin()).out;
  to = put_hex_digits(to, trace.high);
  to = put_hex_digits(to, is_zero ? 1 : trace.low);
  *to++ = '-';
  to = put_hex_digits(to, parent == 0 ? 1 : parent);
  std::ranges::copy(std::string_view("-01"), to);
  return text;
}

}  // namespace weir::http
