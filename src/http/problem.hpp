// Bodies of the answers that Weir generates: application/problem+json (RFC 9457).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::http {

/// The reason phrase of RFC 9110 or the IANA registry; "Unknown" for others.
std::string_view reason_phrase(int status);

/// {"type":"about:blank","title":REASON,"status":N,"detail":DETAIL}
void append_problem(std::string& text, int status, std::string_view detail);

/// The body of a denial as in draft-ietf-httpapi-ratelimit-headers-11 section 5: quota-exceeded
/// with the violated policies' names. Without retry_after_s the detail states that the request can
/// never succeed.
void append_quota_exceeded(std::string& text, int status,
                           std::span<const std::string_view> violated,
                           std::optional<std::int64_t> retry_after_s);
/// The detail of that body as text: `quota "a" exceeded; retry in 3 s`.
void append_quota_detail(std::string& text, std::span<const std::string_view> violated,
                         std::optional<std::int64_t> retry_after_s);

}  // namespace weir::http
