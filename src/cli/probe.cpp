#include "cli/probe.hpp"

#include <algorithm>
#include <array>

#include "cli/probe_echo.hpp"
#include "config/host.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::cli {
namespace {

constexpr std::string_view alike = "reads both alike";
constexpr std::string_view apart = "tells them apart";
constexpr std::string_view unknown = "not found out";

/// A form of the path, and the advice that follows from how the service reads it.
struct PathForm {
  std::string_view name;
  std::optional<std::string> path;  ///< nothing: this path has no such form
  std::string_view if_alike;
  std::string_view if_apart;
};

std::string inserted(const std::string& path, std::size_t at, std::string_view text) {
  return path.substr(0, at) + std::string(text) + path.substr(at);
}

/// The position of the slash before the last segment that is not empty.
std::size_t last_slash(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  return end == std::string::npos ? 0 : path.rfind('/', end);
}

std::optional<std::string> with_encoded_slash(const std::string& path) {
  const std::size_t slash = last_slash(path);
  if (slash == 0) return std::nullopt;
  return path.substr(0, slash) + "%2F" + path.substr(slash + 1);
}

/// A letter of the path, percent-encoded twice.
std::optional<std::string> encoded_twice(const std::string& path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto found = std::find_if(path.rbegin(), path.rend(), http::is_alpha);
  if (found == path.rend()) return std::nullopt;
  const auto byte = static_cast<unsigned char>(*found);
  const auto at = static_cast<std::size_t>(path.rend() - found) - 1;
  return path.substr(0, at) + "%25" + digits[byte / 16] + digits[byte % 16] + path.substr(at + 1);
}

std::optional<std::string> in_other_case(std::string path) {
  if (std::none_of(path.begin(), path.end(), http::is_alpha)) return std::nullopt;
  for (char& c : path) {
    if (http::is_alpha(c)) c = static_cast<char>(c ^ 0x20);
  }
  return path;
}

std::optional<std::string> with_other_end(const std::string& path) {
  if (path == "/") return std::nullopt;
  return path.ends_with('/') ? path.substr(0, path.size() - 1) : path + "/";
}

std::array<PathForm, 7> path_forms(const std::string& path) {
  return {{
      {"encoded slash", with_encoded_slash(path),
       "keep encoded_slashes: refuse; match_both on a route limits both readings",
       "set encoded_slashes: match_both on a route only if its paths need %2F"},
      {"double encoding", encoded_twice(path),
       "keep double_encoding: refuse, because the service decodes twice",
       "set double_encoding: pass on a route only if its paths need it"},
      {"repeated slashes", inserted(path, last_slash(path), "/"),
       "keep repeated_slashes in paths.also_match",
       "this path needs no repeated_slashes in paths.also_match"},
      {"dot segments", inserted(path, last_slash(path), "/weir-probe/.."),
       "keep dot_segments in paths.also_match",
       "this path needs no dot_segments in paths.also_match"},
      {"trailing slash", with_other_end(path), "keep trailing_slash in paths.also_match",
       "this path needs no trailing_slash in paths.also_match"},
      {"letter case", in_other_case(path), "keep letter_case in paths.also_match",
       "this path needs no letter_case in paths.also_match"},
      {"parameters", path + ";weir=probe", "keep parameters in paths.also_match",
       "this path needs no parameters in paths.also_match"},
  }};
}

/// True for an answer that does not show how the request was read: a limit, or a failure of the
/// service.
bool is_no_reading(const ProbeAnswer& answer) {
  return answer.status == 429 || answer.status >= 500;
}

class Prober {
 public:
  Prober(const ProbeTarget& target, const Ask& ask) : target_(target), ask_(ask) {}
  Result<ProbeReport> run();

 private:
  std::string with_query(const std::string& path) const {
    return target_.query.empty() ? path : path + "?" + target_.query;
  }
  bool same(const ProbeAnswer& a, const ProbeAnswer& b) const {
    return a.status == b.status && (!report_.is_steady || a.body == b.body);
  }
  bool is_plain(const ProbeAnswer& answer) const { return same(answer, report_.plain); }
  /// The same, apart from the path of the request in its answer.
  bool is_plain_but_for_path(const ProbeAnswer& answer, const std::string& target) const {
    return is_plain(answer) ||
           (answer.status == report_.plain.status &&
            without_echo(answer.body, target) == without_echo(report_.plain.body, target_.path));
  }

  /// Sends the request. Adds a finding with the reason if there is no answer to compare.
  std::optional<ProbeAnswer> answer_to(const std::string& form, const ProbeRequest& request);
  void add(std::string form, std::string_view reading, std::string_view advice) {
    report_.findings.push_back(
        {.form = std::move(form), .reading = std::string(reading), .advice = std::string(advice)});
  }
  void compare(std::string_view name, const ProbeRequest& request, std::string_view if_alike,
               std::string_view if_apart);
  void ask_paths();
  void ask_method();
  void ask_fields();
  void ask_parameters();

  const ProbeTarget& target_;
  const Ask& ask_;
  ProbeReport report_;
};

std::string form_text(std::string_view name, const ProbeRequest& request) {
  const std::string path = request.target.substr(0, request.target.find('?'));
  std::string text = std::string(name) + ": " + request.method + " " + path;
  if (request.field) text += " with " + request.field->first;
  return text;
}

std::optional<ProbeAnswer> Prober::answer_to(const std::string& form, const ProbeRequest& request) {
  const auto answer = ask_(request);
  if (!answer) {
    add(form, unknown, answer.error().message);
    return std::nullopt;
  }
  if (!is_no_reading(*answer)) return *answer;
  add(form, unknown, "it answered " + std::to_string(answer->status));
  return std::nullopt;
}

void Prober::compare(std::string_view name, const ProbeRequest& request, std::string_view if_alike,
                     std::string_view if_apart) {
  const std::string form = form_text(name, request);
  const auto answer = answer_to(form, request);
  if (!answer) return;
  if (is_plain_but_for_path(*answer, request.target)) return add(form, alike, if_alike);
  if (answer->status != report_.plain.status) return add(form, apart, if_apart);
  add(form, unknown,
      "it answered " + std::to_string(answer->status) +
          " with another body; unless that is another resource, " + std::string(if_alike));
}

void Prober::ask_paths() {
  const ProbeRequest elsewhere{.target = with_query(target_.path + "-weir-probe-none")};
  const auto none = answer_to(form_text("another path", elsewhere), elsewhere);
  if (!none) return;
  if (is_plain_but_for_path(*none, elsewhere.target)) {
    return add("paths", unknown,
               "GET " + target_.path +
                   "-weir-probe-none is answered alike, so answers do not show which path the "
                   "service reads; "
                   "choose a URL whose answer is its own");
  }
  for (const PathForm& form : path_forms(target_.path)) {
    if (form.path) {
      compare(form.name, {.target = with_query(*form.path)}, form.if_alike, form.if_apart);
    } else {
      add(std::string(form.name), unknown, "the path of the URL has no such form");
    }
  }
}

void Prober::ask_method() {
  compare("lower-case method", {.method = "get", .target = with_query(target_.path)},
          "name methods in capitals only: Weir refuses other spellings with 400",
          "a method in lower case is another method; methods can name it if it is no standard one");
}

void Prober::ask_fields() {
  const std::string target = with_query(target_.path);
  if (!target_.field) {
    return add("look-alike header names", unknown,
               "give a field that changes the answer with --probe-header 'NAME: VALUE'");
  }
  const ProbeRequest plain{.target = target, .field = target_.field};
  const auto expected = answer_to(form_text("header", plain), plain);
  if (!expected) return;
  if (is_plain(*expected)) {
    return add(form_text("look-alike header names", plain), unknown,
               "the answer is the same without the field");
  }
  for (const char other : {'_', '.'}) {
    ProbeRequest request = plain;
    std::replace(request.field->first.begin(), request.field->first.end(), '-', other);
    if (request.field->first == plain.field->first) {
      return add("look-alike header names", unknown, "the name has no - in it");
    }
    const std::string form = form_text("look-alike header name", request);
    const auto answer = answer_to(form, request);
    if (!answer) continue;
    const bool is_alike = same(*answer, *expected);
    add(form, is_alike ? alike : apart,
        is_alike ? "Weir refuses it with 400 beside an identity; downstream.unusual_field_names: "
                   "drop removes it instead"
                 : "nothing to set");
  }
}

void Prober::ask_parameters() {
  constexpr std::string_view name_of_form = "repeated query parameter";
  const std::string first = target_.query.substr(0, target_.query.find('&'));
  const std::size_t equals = first.find('=');
  if (equals == std::string::npos || equals == 0) {
    return add(std::string(name_of_form), unknown,
               "give the URL a query parameter that changes the answer, such as ?id=1");
  }
  const std::string other = first.substr(0, equals) + "=weir-probe";
  const auto asked = [&](const std::string& query) -> std::optional<ProbeAnswer> {
    const ProbeRequest request{.target = target_.path + "?" + query};
    return answer_to(form_text(name_of_form, request), request);
  };
  const auto changed = asked(other);
  if (!changed) return;
  std::string form(name_of_form);
  form.append(": ").append(first, 0, equals);
  if (is_plain(*changed)) return add(form, unknown, "the answer is the same with another value");
  const auto before = asked(first + "&" + other);
  const auto after = asked(other + "&" + first);
  if (!before || !after) return;
  const bool reads_first = is_plain(*before) && !is_plain(*after);
  const bool reads_last = !is_plain(*before) && is_plain(*after);
  if (reads_first) return add(form, "reads the first", "repeated: first is enough here");
  if (reads_last) return add(form, "reads the last", "repeated: last is enough here");
  add(form, "reads neither alone", "leave repeated: refuse");
}

Result<ProbeReport> Prober::run() {
  const ProbeRequest plain{.target = with_query(target_.path)};
  const auto once = ask_(plain);
  if (!once) return once.error();
  const auto twice = ask_(plain);
  if (!twice) return twice.error();
  if (once->status >= 400 || once->status != twice->status) {
    return Problem{"GET " + target_.path + " is answered " + std::to_string(once->status) +
                   " and " + std::to_string(twice->status) +
                   "; give the URL of something that the service serves"};
  }
  report_.plain = *once;
  report_.is_steady = once->body == twice->body;
  ask_paths();
  ask_method();
  ask_fields();
  ask_parameters();
  return std::move(report_);
}

}  // namespace

Result<ProbeReport> probe(const ProbeTarget& target, const Ask& ask) {
  return Prober(target, ask).run();
}

Result<ProbeTarget> parse_probe_url(std::string_view url) {
  constexpr std::string_view scheme = "http://";
  const Problem problem{
      "expected http://HOST:PORT/PATH of something that the service serves, such as "
      "http://127.0.0.1:3000/api/items"};
  const auto is_usual = [](char c) { return c > ' ' && c < '\x7f' && c != '#'; };
  if (!url.starts_with(scheme) || !std::all_of(url.begin(), url.end(), is_usual)) return problem;
  url.remove_prefix(scheme.size());
  const std::string_view authority = url.substr(0, url.find_first_of("/?"));
  const auto parts = config::split_host_and_port(authority);
  std::string_view rest = url.substr(authority.size());
  if (!parts || !rest.starts_with('/')) return problem;
  const std::size_t question = std::min(rest.find('?'), rest.size());
  ProbeTarget target;
  target.address.host = parts->host;
  target.address.port = parts->port.value_or(80);
  target.host = authority;
  target.path = rest.substr(0, question);
  rest.remove_prefix(std::min(question + 1, rest.size()));
  target.query = rest;
  return target;
}

Result<ProbeField> parse_probe_field(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const std::string_view value = http::trimmed(text.substr(std::min(colon + 1, text.size())));
  // The value may be a secret.
  if (!http::is_token(name) || value.empty() || !http::is_field_value(value))
    return Problem{"expected a field, such as 'X-Api-Key: VALUE'"};
  return ProbeField{std::string(name), std::string(value)};
}

}  // namespace weir::cli
