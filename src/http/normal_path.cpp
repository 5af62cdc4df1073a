#include "http/normal_path.hpp"

#include <cstddef>

#include "http/characters.hpp"

namespace weir::http {
namespace {

constexpr std::string_view upper_digits = "0123456789ABCDEF";

bool is_unreserved(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

/// A '%' that is not followed by two digits stays as it is.
std::string with_normal_escapes(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool is_escape = path[i] == '%' && i + 2 < path.size() && hex_value(path[i + 1]) >= 0 &&
                           hex_value(path[i + 2]) >= 0;
    if (!is_escape) {
      out += path[i];
      continue;
    }
    const int high = hex_value(path[i + 1]);
    const int low = hex_value(path[i + 2]);
    const char decoded = static_cast<char>(high * 16 + low);
    if (is_unreserved(decoded)) {
      out += decoded;
    } else {
      out += '%';
      out += upper_digits[static_cast<std::size_t>(high)];
      out += upper_digits[static_cast<std::size_t>(low)];
    }
    i += 2;
  }
  return out;
}

/// RFC 3986 section 5.2.4, and empty segments are passed over.
void append_segments(std::string& out, std::string_view path) {
  const std::size_t start = out.size();
  bool ends_in_slash = true;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = path.find('/');
    const std::string_view segment = path.substr(0, end);
    path = end == std::string_view::npos ? std::string_view{} : path.substr(end);
    ends_in_slash = segment.empty() || segment == "." || segment == "..";
    if (segment == "..") out.resize(out.size() > start ? out.rfind('/') : start);
    if (!ends_in_slash) out.append("/").append(segment);
  }
  if (ends_in_slash) out += '/';
}

}  // namespace

bool is_normal_path(std::string_view path) {
  return path.find('%') == std::string_view::npos && path.find("//") == std::string_view::npos &&
         path.find("/.") == std::string_view::npos;
}

void append_normal_path(std::string& out, std::string_view path) {
  if (!path.starts_with('/')) {
    out.append(path);
    return;
  }
  append_segments(out, with_normal_escapes(path));
}

}  // namespace weir::http
