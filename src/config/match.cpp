#include <algorithm>

#include "config/endpoint.hpp"
#include "config/hints.hpp"
#include "config/sections.hpp"
#include "http/characters.hpp"

namespace weir::config {

namespace {

/// A match while it is read.
struct MatchDraft {
  const Config& config;
  routing::Match& match;
};

constexpr std::size_t most_methods = 64;
constexpr std::size_t most_headers = 64;
constexpr std::string_view known_methods[] = {"GET",    "HEAD",    "POST",  "PUT",  "PATCH",
                                              "DELETE", "OPTIONS", "TRACE", "QUERY"};

void read_host(const Cursor& in, MatchDraft& to) {
  const auto text = in.text();
  if (!text) return;
  const std::string_view name =
      text->starts_with("*.") ? std::string_view(*text).substr(2) : std::string_view(*text);
  const auto parts = split_host_and_port(name);
  if (!parts || parts->port) {
    return in.error_showing(
        "expected a host without port, such as api.example.com or *.example.com");
  }
  to.match.host = without_root_dot(*text);
}

void read_path(const Cursor& in, MatchDraft& to) {
  const auto text = in.text();
  if (!text) return;
  // The encodings that the route tolerates are known only when all of it has been read:
  // read_routes() checks again.
  Result<routing::PathPattern> pattern =
      routing::PathPattern::parse(*text, {.slashes = true, .doubled = true});
  if (!pattern) {
    // The message contains the pattern, and the content of a variable is not shown.
    const bool is_as_written = *text == in.node().text;
    if (!is_as_written)
      return in.error("with its variables replaced it is not a path pattern, such as /v1/**");
    return in.error(pattern.error().message +
                    (looks_like_regex(*text) ? "; a pattern is not a regular expression: * is one "
                                               "segment, ** at the end any number of them"
                                             : ""));
  }
  if (const std::string doubt = pattern_doubt(in.node().text); !doubt.empty()) in.warn(doubt);
  if (text->size() > 1 && text->ends_with('/'))
    in.warn("matches only this path; for all paths below it write " +
            in_quotes(in.node().text + "**"));
  to.match.path = *std::move(pattern);
}

void read_method(const Cursor& in, std::vector<std::string>& to) {
  const auto text = in.text();
  if (!text) return;
  if (!http::is_token(*text)) return in.error_showing("expected a method, such as GET");
  if (*text == "*" || http::iequals(*text, "all") || http::iequals(*text, "any"))
    return in.error_showing("expected a method, such as GET; without methods all of them match");
  const auto same_word = [&](std::string_view known) {
    return http::iequals(known, *text) && known != *text;
  };
  const auto* const meant =
      std::find_if(std::begin(known_methods), std::end(known_methods), same_word);
  if (meant != std::end(known_methods))
    return in.error("methods are case-sensitive; did you mean " + in_quotes(*meant) + "?");
  to.push_back(*text);
}

void read_header(const std::string& name, const Cursor& in, MatchDraft& to) {
  if (!http::is_token(name)) in.error("expected the name of a header field");
  const auto value = in.text();
  if (!value) return;
  if (!http::is_field_value(*value)) in.error("a header value has no control characters");
  if (const std::string doubt = header_value_doubt(in.node().text); !doubt.empty()) in.warn(doubt);
  to.match.headers.emplace_back(name, *value);
}

constexpr Key<MatchDraft> match_keys[] = {
    {.name = "host", .read = read_host},
    {.name = "path", .read = read_path},
    {.name = "methods",
     .read = [](const Cursor& in, MatchDraft& to) { read_methods(in, to.match.methods); }},
    {.name = "headers",
     .read =
         [](const Cursor& in, MatchDraft& to) {
           for_each_named(
               in, "a map of header names to values", most_headers,
               [&](const std::string& name, const Cursor& entry) { read_header(name, entry, to); });
         }},
    {.name = "address",
     .read = [](const Cursor& in,
                MatchDraft& to) { read_address(in, to.config, to.match.address); }},
};

}  // namespace

void read_match(const Cursor& in, const Config& config, routing::Match& to) {
  MatchDraft draft{.config = config, .match = to};
  read_table(in, match_keys, draft);
}
void read_methods(const Cursor& in, std::vector<std::string>& to) {
  for_each_item(in, "a list of methods, such as [GET, HEAD]", most_methods,
                [&](const Cursor& item) { read_method(item, to); });
}

void read_address(const Cursor& in, const Config& config, std::optional<AddressList>& to) {
  const auto written = in.text();
  if (!written) return;
  std::vector<std::string_view> names;
  for (const AddressList& list : config.limiter.address_lists)
    names.push_back(list.name());
  const auto index =
      find_among(in, {.what = "address list", .written = *written, .shown = in.node().text}, names);
  if (index) to = config.limiter.address_lists[*index];
}

}  // namespace weir::config
