#include "admin/endpoints.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "admin/metrics.hpp"
#include "admin/readiness.hpp"
#include "base/ip_address.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "http/authority.hpp"
#include "http/problem.hpp"
#include "http/request_view.hpp"
#include "json/write.hpp"

namespace weir::admin {
namespace {

bool is_address(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return IpAddress::parse(host).has_value();
}

bool is_own(std::string_view field, const options::Admin& admin) {
  const auto authority = http::parse_authority(field);
  if (!authority) return false;
  std::string_view host = authority->host;
  if (host.ends_with('.')) host.remove_suffix(1);
  const auto is_host = [host](std::string_view name) { return http::iequals(name, host); };
  return is_address(host) || is_host("localhost") || is_host(admin.address.host) ||
         std::any_of(admin.hosts.begin(), admin.hosts.end(), is_host);
}

/// An origin is `scheme://host[:port]`, where the port is left out as it is in Host.
bool is_origin_of(std::string_view origin, std::string_view host) {
  const auto scheme_end = origin.find("://");
  return scheme_end != std::string_view::npos && http::iequals(origin.substr(scheme_end + 3), host);
}

AdminAnswer healthz(const Instruments&) {
  return {.body = "ok\n"};
}

AdminAnswer readyz(const Instruments& instruments) {
  const ReadinessReport report = report_readiness(instruments);
  json::Object body;
  body.text("state", report.state);
  if (report.replicas) body.json("replicas", std::to_string(*report.replicas));
  if (!report.problems.empty()) body.texts("degraded", report.problems);
  return {.status = report.is_ready ? 200 : 503,
          .content_type = "application/json",
          .body = body.str() + '\n'};
}

AdminAnswer metrics(const Instruments& instruments) {
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
          .body = render_metrics(instruments, read_process_stats())};
}

AdminAnswer config(const Instruments& instruments) {
  json::Object body;
  body.text("hash", instruments.config_hash)
      .number("loaded_at", instruments.config_loaded_at_s)
      .texts("restart_needed",
             {instruments.restart_needed.begin(), instruments.restart_needed.end()});
  if (instruments.shadow_reload != nullptr) {
    json::Object shadow;
    add_members(shadow, instruments.shadow_reload->state());
    body.json("shadow_reload", shadow.str());
  }
  body.json("config", instruments.config_document);
  return {.content_type = "application/json", .body = body.str() + '\n'};
}

/// A handler that answers at once.
Handler at_once(AdminAnswer (*answer)(const Instruments&)) {
  return [answer](const AdminCall&, const Instruments& instruments, const Reply& reply) {
    reply(answer(instruments));
  };
}

std::string problem_text(const std::string& file, const ReloadProblem& problem) {
  const auto position = [](int number) { return number > 0 ? std::to_string(number) : "null"; };
  return json::Object()
      .text("file", file)
      .json("line", position(problem.line))
      .json("column", position(problem.column))
      .text("path", problem.path)
      .text("message", problem.message)
      .str();
}

AdminAnswer rejection_answer(const ReloadReport& report) {
  AdminAnswer answer =
      problem_answer(422, "the configuration has problems; the running one stays as it is");
  std::vector<std::string> problems;
  for (const ReloadProblem& problem : report.problems)
    problems.push_back(problem_text(report.file, problem));
  answer.body.pop_back();  // the brace at the end
  answer.body += ",\"problems\":" + json::list_of(problems) + "}\n";
  return answer;
}

bool lists(std::string_view methods, std::string_view method) {
  while (!methods.empty()) {
    const auto comma = methods.find(", ");
    if (methods.substr(0, comma) == method) return true;
    methods.remove_prefix(comma == std::string_view::npos ? methods.size() : comma + 2);
  }
  return false;
}

AdminAnswer unknown_endpoint(std::span<const AdminEndpoint> endpoints) {
  std::string paths;
  for (const AdminEndpoint& endpoint : endpoints)
    paths.append(paths.empty() ? "" : ", ").append(endpoint.path);
  return problem_answer(404, "no such admin endpoint; the endpoints are " + paths);
}

/// The token in the field; empty if there is none. RFC 6750 section 2.1; the scheme is
/// case-insensitive (RFC 9110 section 11.1).
std::string_view token_in(std::string_view authorization) {
  constexpr std::string_view scheme = "Bearer ";
  if (!http::iequals(authorization.substr(0, scheme.size()), scheme)) return {};
  authorization.remove_prefix(scheme.size());
  authorization.remove_prefix(std::min(authorization.find_first_not_of(' '), authorization.size()));
  return authorization;
}

/// Returns why the request is not authorized; empty if it is.
std::string_view why_unauthorized(std::string_view authorization, const Secret& token) {
  if (token.empty()) return {};
  const std::string_view given = token_in(authorization);
  if (given.empty()) {
    return "this endpoint needs the token of the configuration (admin.token), and the request has "
           "none: send Authorization: Bearer TOKEN";
  }
  if (token.equals(given)) return {};
  return "the token that was sent is not the one of the configuration (admin.token)";
}

}  // namespace

std::string_view why_foreign(const Provenance& from, const options::Admin& admin) {
  if (from.host && !admin.address.is_unix() && !is_own(*from.host, admin)) {
    return "the Host field is neither an IP address nor a name of this server; add the name to "
           "admin.hosts, or set admin.token";
  }
  if (from.origin && !is_origin_of(*from.origin, from.host.value_or(std::string_view{}))) {
    return "the request comes from a page of another origin; set admin.token to let it use this "
           "server";
  }
  return {};
}

std::string unknown_parameter(std::string_view query, std::span<const std::string_view> known) {
  constexpr std::size_t longest_shown = 60;
  while (!query.empty()) {
    std::string_view pair = take_until(query, '&');
    const std::string_view name = take_until(pair, '=');
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string text = "unknown parameter \"";
    text.append(name.substr(0, longest_shown)).append(name.size() > longest_shown ? "...\"" : "\"");
    if (known.empty()) return text + "; this request has no parameters";
    text += "; known are ";
    for (const std::string_view one : known)
      text.append(one == known.front() ? "" : ", ").append(one);
    return text;
  }
  return {};
}

AdminAnswer problem_answer(int status, std::string_view detail) {
  AdminAnswer answer{.status = status, .content_type = "application/problem+json"};
  http::append_problem(answer.body, status, detail);
  return answer;
}

AdminAnswer reload_answer(const ReloadReport& report) {
  switch (report.outcome) {
    case ReloadReport::Outcome::rejected:
      return rejection_answer(report);
    case ReloadReport::Outcome::unavailable:
      return problem_answer(503, "the process is draining");
    case ReloadReport::Outcome::in_shadow:
      return {.status = 202,
              .content_type = "application/json",
              .body = json::Object()
                          .text("until",
                                to_rfc3339(std::chrono::ceil<std::chrono::seconds>(report.until)))
                          .text("hash", report.hash)
                          .str() +
                      '\n'};
    case ReloadReport::Outcome::applied:
      break;
  }
  json::Object body;
  body.text("hash", report.hash).texts("changed", report.changed);
  if (report.changed_omitted > 0)
    body.number("changed_omitted", static_cast<std::int64_t>(report.changed_omitted));
  body.texts("restart_needed", report.restart_needed);
  return {.content_type = "application/json", .body = body.str() + '\n'};
}

std::vector<AdminEndpoint> instrument_endpoints() {
  return {{.path = "/healthz",
           .methods = "GET, HEAD",
           .handle = at_once(healthz),
           .access = Access::public_,
           .ignores_query = true},
          {.path = "/readyz",
           .methods = "GET, HEAD",
           .handle = at_once(readyz),
           .access = Access::public_,
           .ignores_query = true},
          {.path = "/metrics",
           .methods = "GET, HEAD",
           .handle = at_once(metrics),
           .ignores_query = true},
          {.path = "/v1/config", .methods = "GET, HEAD", .handle = at_once(config)}};
}

bool is_authorized(std::string_view authorization, const options::Admin* admin) {
  return admin == nullptr || why_unauthorized(authorization, admin->token).empty();
}

Result<const AdminEndpoint*, AdminAnswer> find_endpoint(std::span<const AdminEndpoint> endpoints,
                                                        const AdminRequest& request,
                                                        const options::Admin* admin) {
  const auto endpoint = std::ranges::find(endpoints, request.path, &AdminEndpoint::path);
  const bool found = endpoint != endpoints.end();
  const Access access = found ? endpoint->access : Access::token;
  const bool needs_token =
      access == Access::token || (access == Access::page && !request.authorization.empty());
  if (needs_token && admin) {
    const std::string_view why = why_unauthorized(request.authorization, admin->token);
    if (!why.empty()) return problem_answer(401, why);
  }
  if (access != Access::public_ && admin && admin->token.empty()) {
    const std::string_view foreign = why_foreign(request.from, *admin);
    if (!foreign.empty()) return problem_answer(403, foreign);
  }
  if (!found) return unknown_endpoint(endpoints);
  if (!lists(endpoint->methods, request.method)) {
    auto refusal = problem_answer(405, "allowed here: " + std::string(endpoint->methods));
    refusal.allow = endpoint->methods;
    return refusal;
  }
  if (!endpoint->ignores_query) {
    const auto& [methods, names] = endpoint->parameters;
    const auto known = lists(methods, request.method) ? names : decltype(names){};
    const std::string unknown = unknown_parameter(request.query, known);
    if (!unknown.empty()) return problem_answer(400, unknown);
  }
  return &*endpoint;
}

}  // namespace weir::admin
