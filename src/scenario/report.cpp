#include "scenario/report.hpp"

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "config/values.hpp"
#include "http/characters.hpp"

namespace weir::scenario {
namespace {

/// The text for a terminal, which may interpret control characters, also those of Unicode (C1):
/// each becomes `?`, except the ends of lines.
std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Utf8Step step = next_utf8(text);
    const std::string_view bytes = text.substr(0, step.length);
    text.remove_prefix(step.length);
    const bool is_c1 = bytes.size() == 2 && bytes >= "\xc2\x80" && bytes <= "\xc2\x9f";
    const bool is_control = bytes.size() == 1 && http::is_control(bytes.front()) && bytes != "\n";
    out += !step.well_formed || is_c1 || is_control ? std::string_view("?") : bytes;
  }
  return out;
}

/// `step 2 "too many", at 1s: POST http://api/login`
std::string title_of(const StepResult& result, Duration at) {
  std::string text = "step " + std::to_string(result.step->number);
  if (!result.name.empty()) text += " \"" + result.name + '"';
  return text + ", at " + config::format_duration(at) + ": " + result.request;
}

void append_differences(std::string& out, std::span<const Difference> differences) {
  for (const Difference& one : differences)
    out.append("  ")
        .append(one.what)
        .append(": expected ")
        .append(one.expected)
        .append(", found ")
        .append(one.found)
        .append("\n");
}

/// All about a failed step but its title.
std::string details_of(const StepResult& result) {
  std::string out;
  append_differences(out, result.of_all);
  append_differences(out, result.differences);
  if (result.step->repeat > 1 && result.failed > 0)
    out += "  " + std::to_string(result.failed) + " of " + std::to_string(result.step->repeat) +
           " requests failed; the first one was number " + std::to_string(result.repetition) + '\n';
  if (result.explanation.empty()) return out;
  out += '\n';
  std::string_view rest = result.explanation;
  while (!rest.empty()) {
    const std::string_view line = take_until(rest, '\n');
    if (!line.empty()) out.append("    ").append(line);
    out += '\n';
  }
  return out;
}

std::string title_of(const StepResult& result) {
  return title_of(result, result.failed > 0 ? result.at : result.step->at);
}

/// Appends text for an attribute or an element. Bytes that XML 1.0 cannot have (section 2.2) become
/// U+FFFD.
void append_xml(std::string& out, std::string_view text) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  while (!text.empty()) {
    const Utf8Step step = next_utf8(text);
    const std::string_view bytes = text.substr(0, step.length);
    text.remove_prefix(step.length);
    const char c = bytes.front();
    const bool is_forbidden = (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') ||
                              bytes == "\xef\xbf\xbe" || bytes == "\xef\xbf\xbf";
    if (!step.well_formed || is_forbidden) {
      out += replacement;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\n') {
      out += "&#10;";
    } else if (c == '\t') {
      out += "&#9;";
    } else {
      out += bytes;
    }
  }
}

void append_attribute(std::string& out, std::string_view name, std::string_view value) {
  out.append(" ").append(name).append("=\"");
  append_xml(out, value);
  out += '"';
}

/// `<failure message="...">TEXT</failure>`
void append_outcome(std::string& out, std::string_view element, std::string_view message,
                    std::string_view text) {
  out.append("      <").append(element);
  append_attribute(out, "message", message);
  out += '>';
  append_xml(out, text);
  out.append("</").append(element).append(">\n");
}

void begin_case(std::string& out, const std::string& file, const std::string& name, int line) {
  out += "    <testcase";
  append_attribute(out, "classname", file);
  append_attribute(out, "name", name);
  append_attribute(out, "file", file);
  if (line > 0) append_attribute(out, "line", std::to_string(line));
  append_attribute(out, "time", "0");
}

void append_case(std::string& out, const std::string& file, const StepResult& result) {
  begin_case(out, file, title_of(result, result.step->at), result.step->line);
  if (result.step->is_unchecked_request()) {
    out += "><skipped message=\"the step has no expect\"/></testcase>\n";
    return;
  }
  if (result.is_ok()) {
    out += "/>\n";
    return;
  }
  const Difference& first =
      result.of_all.empty() ? result.differences.front() : result.of_all.front();
  out += ">\n";
  append_outcome(out, "failure",
                 first.what + ": expected " + first.expected + ", found " + first.found,
                 file + ':' + std::to_string(result.step->line) + ": " + title_of(result) + '\n' +
                     details_of(result));
  out += "    </testcase>\n";
}

void append_problems(std::string& out, const FileResult& result) {
  begin_case(out, result.file, "the scenario and its configuration", 0);
  std::string text;
  for (const auto& [file, problems] : result.problems) {
    for (const config::Diagnostic& one : problems)
      text += file + ':' + (one.line > 0 ? "" : " ") + one.to_string() + '\n';
  }
  out += ">\n";
  append_outcome(out, "error", "the file cannot be used", text);
  out += "    </testcase>\n";
}

std::size_t unchecked_in(const FileResult& result) {
  return static_cast<std::size_t>(std::ranges::count_if(
      result.steps, [](const StepResult& one) { return one.step->is_unchecked_request(); }));
}

std::size_t failures_in(const FileResult& result) {
  return static_cast<std::size_t>(
      std::ranges::count_if(result.steps, [](const StepResult& one) { return !one.is_ok(); }));
}

}  // namespace

bool FileResult::is_ok() const {
  return problems.empty() && failures_in(*this) == 0;
}

std::string to_text(const FileResult& result) {
  if (!result.problems.empty()) return {};
  std::string out;
  for (const StepResult& one : result.steps) {
    if (one.is_ok()) continue;
    std::string title = title_of(one);
    std::ranges::replace(title, '\n', ' ');
    out += result.file + ':' + std::to_string(one.step->line) + ": " + printable(title) + '\n' +
           printable(details_of(one)) + '\n';
  }
  const std::size_t failures = failures_in(result);
  const std::string count = std::to_string(result.steps.size());
  out += result.file + ": ";
  if (failures > 0) out += std::to_string(failures) + " of ";
  out += count + (result.steps.size() == 1 ? " step " : " steps ");
  out += failures > 0 ? "failed" : "ok";
  if (const std::size_t unchecked = unchecked_in(result); unchecked > 0)
    out += " (" + std::to_string(unchecked) + " without expect)";
  return out + '\n';
}

std::string to_junit(std::span<const FileResult> results) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const FileResult& result : results) {
    const bool is_usable = result.problems.empty();
    out += "  <testsuite";
    append_attribute(out, "name", result.file);
    append_attribute(out, "tests", std::to_string(is_usable ? result.steps.size() : 1));
    append_attribute(out, "failures", std::to_string(failures_in(result)));
    append_attribute(out, "errors", is_usable ? "0" : "1");
    append_attribute(out, "skipped", std::to_string(unchecked_in(result)));
    append_attribute(out, "time", "0");
    out += ">\n";
    if (!is_usable) append_problems(out, result);
    for (const StepResult& one : result.steps)
      append_case(out, result.file, one);
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace weir::scenario
