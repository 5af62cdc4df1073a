// Content negotiation by Accept: media types, and the one that a client prefers (RFC 9110 sections
// 8.3.1 and 12.5.1). Pure; no allocation; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "http/request_view.hpp"

namespace weir::http {

/// True for `TYPE/SUBTYPE`, with or without parameters: a value of Content-Type. Wildcards are not.
bool is_media_type(std::string_view text);

/// Returns the media type without its parameters.
std::string_view without_parameters(std::string_view media_type);

/// Types that can be negotiated for one response; more are not compared.
inline constexpr std::size_t most_negotiated_types = 9;

/// Returns the index of the type with the highest quality in the Accept fields; of equal ones that
/// which is named more exactly, so that "application/json, */*" is JSON; then the first. Without an
/// Accept field every type is acceptable. Nothing: none is.
///
/// `types` are compared without parameters. A media range with parameters other than q and charset
/// matches none of them. Elements of the list that are not valid are ignored.
std::optional<std::size_t> preferred_type(std::span<const FieldView> fields,
                                          std::span<const std::string_view> types);

}  // namespace weir::http
