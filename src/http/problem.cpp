#include "http/problem.hpp"

#include <array>
#include <cstddef>
#include <utility>

#include "json/write.hpp"

namespace weir::http {
namespace {

void append_start(Appender& out, std::string_view type, int status) {
  out.add(R"({"type":")").add(type).add(R"(","title":)");
  json::append_string(out, reason_phrase(status));
  out.add(R"(,"status":)").number(status);
}

/// `quota exceeded` when the policy is hidden, `quota "a" exceeded` or `quotas "a", "b" exceeded`;
/// then what the client may do. `add_name` appends a name with its quotes.
template <class AddName>
void append_detail(Appender& out, std::span<const std::string_view> violated,
                   std::optional<std::int64_t> retry_after_s, AddName add_name) {
  out.add(violated.size() > 1 ? "quotas" : "quota");
  std::string_view separator = " ";
  for (const std::string_view name : violated) {
    out.add(separator);
    add_name(name);
    separator = ", ";
  }
  out.add(" exceeded");
  if (retry_after_s) {
    out.add("; retry in ").number(*retry_after_s).add(" s");
  } else {
    out.add("; this request costs more than can ever be available, so it can never succeed");
  }
}

// IANA, "HTTP Status Code Registry".
constexpr auto phrases = std::to_array<std::pair<int, std::string_view>>({
    {100, "Continue"},
    {101, "Switching Protocols"},
    {102, "Processing"},
    {103, "Early Hints"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {207, "Multi-Status"},
    {208, "Already Reported"},
    {226, "IM Used"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {305, "Use Proxy"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {506, "Variant Also Negotiates"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {511, "Network Authentication Required"},
});

constexpr int first = 100;

// Every answer that Weir generates looks it up, so it is an array by status.
constexpr auto by_status = [] {
  std::array<std::string_view, phrases.back().first - first + 1> table;
  table.fill("Unknown");
  for (const auto& [status, phrase] : phrases)
    table[static_cast<std::size_t>(status - first)] = phrase;
  return table;
}();

}  // namespace

void append_problem(std::string& text, int status, std::string_view detail) {
  Appender out(text);
  append_start(out, "about:blank", status);
  out.add(R"(,"detail":)");
  json::append_string(out, detail);
  out.add('}');
}

void append_quota_exceeded(std::string& text, int status,
                           std::span<const std::string_view> violated,
                           std::optional<std::int64_t> retry_after_s) {
  Appender out(text);
  append_start(out, "https://iana.org/assignments/http-problem-types#quota-exceeded", status);
  out.add(R"(,"detail":")");
  append_detail(out, violated, retry_after_s, [&](std::string_view name) {
    out.add(R"(\")");
    json::append_escaped(out, name);
    out.add(R"(\")");
  });
  out.add(R"(","violated-policies":[)");
  std::string_view separator;
  for (const std::string_view name : violated) {
    out.add(separator);
    json::append_string(out, name);
    separator = ",";
  }
  out.add(']');
  if (retry_after_s) out.add(R"(,"retry_after":)").number(*retry_after_s);
  out.add('}');
}

void append_quota_detail(std::string& text, std::span<const std::string_view> violated,
                         std::optional<std::int64_t> retry_after_s) {
  Appender out(text);
  append_detail(out, violated, retry_after_s,
                [&](std::string_view name) { out.add('"').add(name).add('"'); });
}

std::string_view reason_phrase(int status) {
  const auto index = static_cast<std::size_t>(status - first);
  return index < by_status.size() ? by_status[index] : "Unknown";
}

}  // namespace weir::http
