#include "http/problem.hpp"

#include "json/write.hpp"

namespace weir::http {
namespace {

void append_start(Appender& out, std::string_view type, int status) {
  out.add(R"({"type":")").add(type).add(R"(","title":)");
  json::append_string(out, reason_phrase(status));
  out.add(R"(,"status":)").number(status);
}

/// `quota exceeded` when the policy is hidden, `quota \"a\" exceeded` or `quotas \"a\", \"b\"
/// exceeded`, the quotes escaped as within a JSON string.
void append_violated(Appender& out, std::span<const std::string_view> violated) {
  out.add(violated.size() > 1 ? "quotas" : "quota");
  std::string_view separator = " ";
  for (const std::string_view name : violated) {
    out.add(separator).add(R"(\")");
    json::append_escaped(out, name);
    out.add(R"(\")");
    separator = ", ";
  }
  out.add(" exceeded");
}

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
  append_violated(out, violated);
  if (retry_after_s) {
    out.add("; retry in ").number(*retry_after_s).add(" s");
  } else {
    out.add("; this request costs more than can ever be available, so it can never succeed");
  }
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

}  // namespace weir::http
