// `routes`: their conditions, actions and limits.
#include <algorithm>
#include <set>
#include <variant>

#include "config/sections.hpp"
#include "http/characters.hpp"
#include "http/request_view.hpp"

namespace weir::config {

namespace {

/// A token, and credentials in Authorization: both are of the scheme Bearer.
bool is_bearer(const identity::Source& source) {
  if (std::holds_alternative<identity::FromClaim>(source.from)) return true;
  const std::string* const header = identity::header_of(source);
  return header != nullptr && http::iequals(*header, "authorization");
}

http::FieldSection challenge_of(const Config& config, const options::Route& route) {
  bool bearer = false;
  bool api_key = false;
  for (const limiter::Limit& limit : route.limits) {
    if (!limit.required) continue;
    identity::each_part(
        config.limiter.identities[limit.identity].source,
        [&](const identity::Source& part) { (is_bearer(part) ? bearer : api_key) = true; });
  }
  if (!bearer && !api_key) return {};
  // ApiKey is not a registered scheme: there is none for a key in a header field, a parameter or a
  // cookie.
  return {{"WWW-Authenticate", !api_key ? "Bearer" : bearer ? "Bearer, ApiKey" : "ApiKey"}};
}

constexpr std::size_t most_routes = 10'000;

/// A route while it is read.
struct RouteDraft {
  const Config& config;
  options::Route route;
  int actions = 0;
  bool has_faulty_path = false;  ///< reported: match.path is no pattern
};

constexpr Key<options::FixedAnswer> respond_keys[] = {
    {.name = "status", .read = read::integer<200, 599, &options::FixedAnswer::status>},
    {.name = "body",
     .read =
         [](const Cursor& in, options::FixedAnswer& to) {
           read_text(in, to.body);
           warn_of_body_file(in);
         }},
    {.name = "content_type",
     .read =
         [](const Cursor& in, options::FixedAnswer& to) {
           read_text(in, to.content_type);
           if (to.content_type.empty() || !http::is_field_value(to.content_type)) {
             in.error_showing("expected a media type, such as text/plain");
           }
         }},
    {.name = "headers",
     .read =
         [](const Cursor& in, options::FixedAnswer& to) {
           ConstantFields fields;
           read_constant_fields(in, refusal_of_answer_field, fields);
           to.fields = field_section(fields);
         }},
};

void read_name(const Cursor& in, RouteDraft& to) {
  const auto text = in.text();
  if (!text) return;
  // A label of metrics and log lines, so it must not contain the content of a variable.
  to.route.name = in.shown(*text);
  check_name(in, to.route.name);
}

void read_upstream(const Cursor& in, RouteDraft& to) {
  ++to.actions;
  to.route.upstream = read_reference(in, "upstream", to.config.upstreams);
}

/// RFC 9110 section 15.4: a client follows these by Location.
bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

void read_respond(const Cursor& in, RouteDraft& to) {
  ++to.actions;
  options::FixedAnswer& answer = to.route.respond;
  read_table(in, respond_keys, answer);
  // RFC 9110 sections 15.3.5 and 15.4.5: these end with their header section.
  const std::string status = in.at_key("status").shown(std::to_string(answer.status));
  if ((answer.status == 204 || answer.status == 304) && !answer.body.empty()) {
    in.at_key("body").error("an answer with status " + status + " has no body");
  }
  if (is_redirect(answer.status) && !answer.fields.contains("location"))
    in.warn("the redirect leads nowhere; write headers: {location: URL}");
}

void read_decide(const Cursor& in, RouteDraft& to) {
  bool wanted = false;
  read_flag(in, wanted);
  if (!wanted) return;
  ++to.actions;
  to.route.decide = true;
  // Also without limits that hold units: a reload may have removed them.
  to.route.needs |= options::needs_settlements;
}

/// The longest that a request may take behind another proxy, such as a stream.
constexpr Duration longest_hold_lease = std::chrono::hours(24);

void read_hold_lease(const Cursor& in, RouteDraft& to) {
  read_duration(in, to.route.hold_lease, {std::chrono::seconds(1), longest_hold_lease});
}

constexpr Key<RouteDraft> route_keys[] = {
    {.name = "name", .read = read_name},
    {.name = "match",
     .read =
         [](const Cursor& in, RouteDraft& to) {
           read_match(in, to.config, to.route.match);
           to.has_faulty_path = in.has("path") && !to.route.match.path;
         }},
    {.name = "upstream", .read = read_upstream},
    {.name = "respond", .read = read_respond},
    {.name = "decide", .read = read_decide},
    {.name = "hold_lease", .read = read_hold_lease},
    {.name = "encoded_slashes",
     .read =
         [](const Cursor& in, RouteDraft& to) {
           read_choice(in, to.route.encoded_slashes, {{"refuse", false}, {"match_both", true}});
         }},
    {.name = "double_encoding",
     .read =
         [](const Cursor& in, RouteDraft& to) {
           read_choice(in, to.route.double_encoding, {{"refuse", false}, {"pass", true}});
         }},
    {.name = "request_headers", .read = read::with<read_request_edits, &RouteDraft::route>},
    {.name = "response_headers", .read = read::with<read_response_edits, &RouteDraft::route>},
    {.name = "strip_prefix",
     .read =
         [](const Cursor& in, RouteDraft& to) {
           if (!to.has_faulty_path) read_strip_prefix(in, to.route);
         }},
    {.name = "path",
     .read =
         [](const Cursor& in, RouteDraft& to) {
           if (!to.has_faulty_path) read_new_path(in, to.route);
         }},
    {.name = "limits",
     .read = [](const Cursor& in, RouteDraft& to) { read_limits(in, to.config, to.route); }},
};

/// Assigns the names: configured names first; then each unnamed route takes its path, or its number
/// if that name is taken.
void name_routes(const Cursor& in, std::vector<options::Route>& routes) {
  std::set<std::string> taken;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    if (routes[i].name.empty() || taken.insert(routes[i].name).second) continue;
    in.at(i).at_key("name").error("another route is already called " +
                                  in_quotes(in.at(i).at_key("name").node().text));
  }
  for (std::size_t i = 0; i < routes.size(); ++i) {
    options::Route& route = routes[i];
    if (route.match.path) {
      const Cursor path = in.at(i).at_key("match").at_key("path");
      route.shown_path = path.shown(route.match.path->text());
    }
    if (!route.name.empty()) continue;
    const std::string number = "route-" + std::to_string(i + 1);
    route.name = route.match.path ? route.shown_path : number;
    if (taken.insert(route.name).second) continue;
    route.name = number;
    if (!taken.insert(route.name).second)
      in.at(i).error("the name " + in_quotes(number) + " is taken; give this route one");
  }
}

/// Warns of patterns with encodings that are refused unless the route accepts them.
void check_encodings(const Cursor& in, const options::Route& route) {
  if (!route.match.path) return;
  const auto& encodings = route.match.path->encodings();
  if (encodings.slashes && !route.encoded_slashes)
    in.error(
        "never matches, because requests with %2F are refused; set encoded_slashes: "
        "match_both on the route");
  if (encodings.doubled && !route.double_encoding)
    in.error(
        "never matches, because requests that are percent-encoded twice are refused; set "
        "double_encoding: pass on the route");
}

bool matches_everything(const routing::Match& match) {
  return routing::is_for_any_request(match) && (!match.path || match.path->text() == "/**");
}

/// Warns of a pattern with bytes that no target may have.
void warn_of_raw_bytes(const Cursor& in, const Config& config) {
  if (config.proxy.downstream.raw_target_bytes) return;
  for (std::size_t i = 0; i < config.proxy.routes.size(); ++i) {
    const auto& path = config.proxy.routes[i].match.path;
    const auto is_raw = [](char c) { return static_cast<unsigned char>(c) >= 0x80 || c == '\\'; };
    if (!path || std::none_of(path->text().begin(), path->text().end(), is_raw)) continue;
    in.at(i).at_key("match").at_key("path").warn(
        "never matches: targets with backslashes or bytes that are not ASCII are refused; "
        "percent-encode them, or set downstream.raw_target_bytes: pass");
  }
}

void warn_of_unreachable(const Cursor& in, const std::vector<options::Route>& routes) {
  const auto last = std::find_if(routes.begin(), routes.end(), [](const options::Route& route) {
    return matches_everything(route.match);
  });
  if (last == routes.end() || last + 1 == routes.end()) return;
  in.at(static_cast<std::size_t>(last - routes.begin()) + 1)
      .warn("never reached: the route before it takes every request; move it before that one");
}

}  // namespace

void read_routes(const Cursor& in, Config& to) {
  for_each_item(in, "a list of routes", most_routes, [&](const Cursor& item) {
    RouteDraft draft{.config = to, .route = {}};
    read_table(item, route_keys, draft);
    if (item.is_map() && draft.actions != 1) {
      item.error(std::string("expected exactly one of upstream, respond and decide; ") +
                 (draft.actions == 0 ? "write one, such as upstream: NAME" : "keep one"));
    }
    if (item.has("hold_lease") && !item.has("decide"))
      item.at_key("hold_lease").error("hold_lease has no effect without decide: true; remove it");
    if (item.is_map()) check_changes(item, draft.route);
    check_encodings(item.at_key("match").at_key("path"), draft.route);
    draft.route.challenge = challenge_of(to, draft.route);
    to.proxy.routes.push_back(std::move(draft.route));
  });
  name_routes(in, to.proxy.routes);
  warn_of_unreachable(in, to.proxy.routes);
  warn_of_raw_bytes(in, to);
}
}  // namespace weir::config
