// The head of a request that a command or a scenario describes by its method, URL and fields. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "config/url.hpp"

namespace weir::config {

/// Splits `http://HOST[:PORT][/PATH][?QUERY]`, or https. The fragment is left out. Problems never
/// contain a part of the URL.
Result<Url> parse_request_url(std::string_view text);

/// Returns what is wrong with a field, or an empty text. It never contains the value.
std::string fault_of_field(std::string_view name, std::string_view value);

using RequestFields = std::span<const std::pair<std::string, std::string>>;

/// Returns the bytes of the request head (RFC 9112 section 3). The target is sent as written:
/// nothing is decoded, encoded or normalised, except that an empty path is "/". A Host field among
/// the fields replaces the host of the URL.
std::string request_head(std::string_view method, const Url& url, RequestFields fields);

}  // namespace weir::config
