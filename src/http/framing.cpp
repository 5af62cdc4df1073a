#include "http/framing.hpp"

#include <cstddef>
#include <limits>
#include <optional>

#include "base/text.hpp"
#include "http/field_list.hpp"

namespace weir::http {
namespace {

/// The fields of a head that describe its body, before they are checked.
struct Declared {
  std::size_t length_lines = 0;
  std::string_view length;
  std::size_t coding_lines = 0;
  std::size_t codings = 0;
  bool names_no_coding = false;  ///< one of its lines
  std::size_t chunked = 0;
  bool chunked_is_last = false;
};

Declared declared(std::span<const FieldView> fields) {
  Declared found;
  for (const FieldView& field : fields) {
    if (field.id == FieldId::content_length) {
      ++found.length_lines;
      found.length = field.value;
    } else if (field.id == FieldId::transfer_encoding) {
      ++found.coding_lines;
      const std::size_t before = found.codings;
      for_each_element(field.value, [&](std::string_view coding) {
        ++found.codings;
        found.chunked_is_last = iequals(coding, "chunked");
        if (found.chunked_is_last) ++found.chunked;
      });
      found.names_no_coding |= found.codings == before;
    }
  }
  return found;
}

/// Parses 1*DIGIT up to 2^63 - 1, which every recipient can represent.
std::optional<std::uint64_t> content_length(std::string_view text) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  const auto length = parse_number<std::uint64_t>(text);
  return length && *length <= most ? length : std::nullopt;
}

std::optional<std::string_view> length_fault(const Declared& found) {
  if (found.length_lines > 1) return "more than one Content-Length";
  if (found.length_lines == 1 && !content_length(found.length))
    return "Content-Length is not a number";
  return std::nullopt;
}

std::optional<std::string_view> coding_fault(const Declared& found, std::uint8_t version_minor) {
  if (found.coding_lines == 0) return std::nullopt;
  if (found.length_lines > 0) return "both Transfer-Encoding and Content-Length";
  if (version_minor == 0) return "Transfer-Encoding in an HTTP/1.0 message";
  if (found.names_no_coding) return "a Transfer-Encoding without a coding";
  if (!found.chunked_is_last) return "Transfer-Encoding does not end in chunked";
  if (found.chunked > 1) return "Transfer-Encoding names chunked more than once";
  return std::nullopt;
}

Framing framing_of(const Declared& found, Framing::Kind otherwise) {
  if (found.coding_lines > 0) return {.kind = Framing::Kind::chunked};
  if (found.length_lines == 0) return {.kind = otherwise};
  return {.kind = Framing::Kind::length, .length = *content_length(found.length)};
}

Result<Framing, Refusal> judged(const Declared& found, std::uint8_t version_minor,
                                Framing::Kind otherwise, int status_of_fault,
                                int status_of_unknown_coding) {
  if (const auto fault = coding_fault(found, version_minor))
    return Refusal{status_of_fault, *fault};
  if (const auto fault = length_fault(found)) return Refusal{status_of_fault, *fault};
  if (found.codings > found.chunked) {
    return Refusal{status_of_unknown_coding, "Transfer-Encoding names a coding other than chunked"};
  }
  return framing_of(found, otherwise);
}

}  // namespace

Result<Framing, Refusal> request_framing(const RequestView& request) {
  const Declared found = declared(request.fields);
  return judged(found, request.version_minor, Framing::Kind::none, 400, 501);
}

Result<Framing, Refusal> response_framing(std::string_view request_method, int status,
                                          std::uint8_t version_minor,
                                          std::span<const FieldView> fields) {
  const Declared found = declared(fields);
  if (status < 200 || status == 204) return Framing{};
  if (request_method == "HEAD" || status == 304) {
    // This Content-Length is forwarded, so it must be valid.
    if (const auto fault = length_fault(found)) return Refusal{502, *fault};
    return Framing{};
  }
  return judged(found, version_minor, Framing::Kind::until_close, 502, 502);
}

}  // namespace weir::http
