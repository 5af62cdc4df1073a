// Values that stand inside a query or a Cookie field. Pure; no allocation.
#pragma once

#include <optional>
#include <string_view>

#include "http/request_view.hpp"

namespace weir::identity {

/// Decodes a part of a query one byte at a time: '+' is a space, and a '%' without two hexadecimal
/// digits stands for itself.
class PercentDecoder {
 public:
  explicit PercentDecoder(std::string_view text) : text_(text) {}
  bool at_end() const { return text_.empty(); }
  char next();

 private:
  std::string_view text_;
};

/// The value, still encoded, of the first parameter whose decoded name is `name`; empty without
/// "=".
std::optional<std::string_view> query_parameter(std::string_view query, std::string_view name);

/// The value, without the double quotes around it, of the first cookie of that name over all Cookie
/// lines.
std::optional<std::string_view> cookie(const http::RequestView& request, std::string_view name);

}  // namespace weir::identity
