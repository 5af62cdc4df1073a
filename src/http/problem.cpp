#include "http/problem.hpp"

#include <algorithm>
#include <cstddef>

#include "http/append_number.hpp"
#include "http/utf8.hpp"

namespace weir::http {
namespace {

void append_json_control(std::string& out, char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  out += "\\u00";
  out += digits[static_cast<std::size_t>(c) >> 4];
  out += digits[static_cast<std::size_t>(c) & 15];
}

bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/// The inside of a JSON string.
void append_json_text(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto* const odd = std::find_if_not(text.begin(), text.end(), is_plain);
    const auto plain = static_cast<std::size_t>(odd - text.begin());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    const auto [length, well_formed] = next_utf8(text);
    const char c = text.front();
    if (!well_formed) {
      out += "\uFFFD";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (length == 1 && static_cast<unsigned char>(c) < 0x20) {
      append_json_control(out, c);
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
}

void append_start(std::string& out, std::string_view type, int status) {
  out.append(R"({"type":")").append(type).append(R"(","title":)");
  append_json_string(out, reason_phrase(status));
  out += R"(,"status":)";
  append_number(out, status);
}

/// `quota exceeded` when the policy is hidden, `quota \"a\" exceeded` or `quotas \"a\", \"b\"
/// exceeded`, the quotes escaped as within a JSON string.
void append_violated(std::string& out, std::span<const std::string_view> violated) {
  out += violated.size() > 1 ? "quotas" : "quota";
  std::string_view separator = " ";
  for (const std::string_view name : violated) {
    out.append(separator).append(R"(\")");
    append_json_text(out, name);
    out += R"(\")";
    separator = ", ";
  }
  out += " exceeded";
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  append_json_text(out, text);
  out += '"';
}

void append_problem(std::string& out, int status, std::string_view detail) {
  append_start(out, "about:blank", status);
  out += R"(,"detail":)";
  append_json_string(out, detail);
  out += '}';
}

void append_quota_exceeded(std::string& out, int status, std::span<const std::string_view> violated,
                           std::optional<std::int64_t> retry_after_s) {
  append_start(out, "https://iana.org/assignments/http-problem-types#quota-exceeded", status);
  out += R"(,"detail":")";
  append_violated(out, violated);
  if (retry_after_s) {
    out += "; retry in ";
    append_number(out, *retry_after_s);
    out += " s";
  } else {
    out += "; this request costs more than can ever be available, so it can never succeed";
  }
  out += R"(","violated-policies":[)";
  std::string_view separator;
  for (const std::string_view name : violated) {
    out += separator;
    append_json_string(out, name);
    separator = ",";
  }
  out += ']';
  if (retry_after_s) {
    out += R"(,"retry_after":)";
    append_number(out, *retry_after_s);
  }
  out += '}';
}

}  // namespace weir::http
