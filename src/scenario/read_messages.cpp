// The request and the response of a step.
#include <array>

#include "config/hints.hpp"
#include "config/request_head.hpp"
#include "config/table.hpp"
#include "http/characters.hpp"
#include "scenario/read.hpp"
#include "scenario/value_json.hpp"

namespace weir::scenario {
namespace {

using config::Cursor;
using config::Entry;
using config::Key;
using config::Node;

/// A YAML value as a body: a text as it is, a map or a list as JSON. Returns whether it is JSON.
bool read_body(const Cursor& in, std::string& to) {
  to.clear();
  const bool is_json = in.node().kind == Node::Kind::map || in.node().kind == Node::Kind::sequence;
  if (is_json) {
    append_json(to, in);
  } else {
    config::read_text(in, to);
  }
  return is_json;
}

void add_field(const Cursor& in, const std::string& name, Fields& to) {
  const auto value = in.text();
  if (!value) return;
  const std::string fault = config::fault_of_field(name, http::trimmed(*value));
  if (!fault.empty()) return in.error(fault);
  to.emplace_back(name, http::trimmed(*value));
}

void read_fields(const Cursor& in, Fields& to) {
  if (!in.expect_map("a map of header fields, such as {x-api-key: abc}")) return;
  for (const Entry& entry : in.node().entries) {
    const Cursor values = in.at(entry);
    if (values.node().kind != Node::Kind::sequence) {
      add_field(values, entry.key, to);
      continue;
    }
    for (std::size_t i = 0; i < values.node().items.size(); ++i)
      add_field(values.at(i), entry.key, to);
  }
}

void read_method(const Cursor& in, PartOf<Request>& part) {
  const auto text = config::read_form(
      in, [](std::string_view method) { return http::is_token(method); },
      "expected a method, such as GET");
  if (text) part.to.method = *text;
}

void read_url(const Cursor& in, PartOf<Request>& part) {
  const auto text = in.text();
  if (!text) return;
  const auto url = config::parse_request_url(*text);
  if (!url) return in.error(url.error().message);
  part.to.url = *text;
}

void read_peer(const Cursor& in, PartOf<Request>& part) {
  const auto text = in.text();
  if (!text) return;
  const auto address = IpAddress::parse(*text);
  if (!address) return in.error_showing("expected an IP address, such as 192.0.2.7");
  part.to.peer = *address;
}

void read_claims(const Cursor& in, PartOf<Request>& part) {
  config::for_each_named(in, "a map of JWT providers to claims, such as {idp: {sub: alice}}", 16,
                         [&](const std::string& name, const Cursor& claims) {
                           if (!claims.expect_map("a map of claims, such as {sub: alice}")) return;
                           TokenClaims token;
                           append_json(token.json, claims);
                           for (const Entry& entry : claims.node().entries)
                             token.names.push_back(entry.key);
                           if (part.config == nullptr) return;
                           const auto provider = config::find_named(
                               claims, {.what = "JWT provider", .written = name, .shown = name},
                               part.config->limiter.token_providers);
                           if (!provider) return;
                           token.provider = *provider;
                           part.to.claims.push_back(std::move(token));
                         });
}

constexpr Key<PartOf<Request>> request_keys[] = {
    {.name = "method", .read = read_method},
    {.name = "url", .read = read_url, .required = true},
    {.name = "headers",
     .read = [](const Cursor& in, auto& part) { read_fields(in, part.to.fields); }},
    {.name = "peer", .read = read_peer},
    {.name = "body",
     .read = [](const Cursor& in,
                auto& part) { part.to.is_json = read_body(in, part.to.body.emplace()); }},
    {.name = "claims", .read = read_claims},
    {.name = "leaves_after",
     .read =
         [](const Cursor& in, auto& part) {
           config::read_duration(in, part.to.leaves_after.emplace(), scenario_times);
         }},
};

void read_status(const Cursor& in, PartOf<Response>& part) {
  config::read_integer_into(in, part.to.status, {200, 599});
}

void read_grpc_status(const Cursor& in, PartOf<Response>& part) {
  if (const auto status = config::read_integer(in, grpc_statuses))
    part.to.grpc_status = static_cast<int>(*status);
}

void read_json(const Cursor& in, PartOf<Response>& part) {
  part.to.body.clear();
  append_json(part.to.body, in);
  part.to.content_type = "application/json";
}

/// A stream as language models send it: an event for each value, and the end.
void read_events(const Cursor& in, PartOf<Response>& part) {
  part.to.body.clear();
  part.to.content_type = "text/event-stream";
  config::for_each_item(in, "a list of events", 10'000, [&](const Cursor& event) {
    part.to.body += "data: ";
    if (event.node().kind == Node::Kind::scalar) {
      part.to.body += event.text().value_or("");
    } else {
      append_json(part.to.body, event);
    }
    part.to.body += "\n\n";
  });
}

void read_failure(const Cursor& in, PartOf<Response>& part) {
  config::read_choice(in, part.to.failure,
                      {{"unreachable", proxy::Failure::upstream_unreachable},
                       {"timeout", proxy::Failure::upstream_timed_out},
                       {"broken", proxy::Failure::upstream_broken}});
}

constexpr Key<PartOf<Response>> response_keys[] = {
    {.name = "status", .read = read_status},
    {.name = "grpc_status", .read = read_grpc_status},
    {.name = "headers",
     .read = [](const Cursor& in, auto& part) { read_fields(in, part.to.fields); }},
    {.name = "body",
     .read =
         [](const Cursor& in, auto& part) {
           if (read_body(in, part.to.body)) part.to.content_type = "application/json";
         }},
    {.name = "json", .read = read_json},
    {.name = "events", .read = read_events},
    {.name = "after",
     .read = [](const Cursor& in,
                auto& part) { config::read_duration(in, part.to.after, scenario_times); }},
    {.name = "until",
     .read =
         [](const Cursor& in, auto& part) {
           Duration until{-1};
           config::read_duration(in, until, scenario_times);
           if (until >= Duration{0}) part.to.until = until;
         }},
    {.name = "failure", .read = read_failure},
};

/// Reports the second of keys that exclude each other.
void exclude(const Cursor& in, std::initializer_list<std::string_view> keys) {
  std::string_view first;
  for (const std::string_view key : keys) {
    if (!in.has(key)) continue;
    if (!first.empty())
      in.at_key(key).error("there is " + config::in_quotes(first) + " already; keep one of them");
    if (first.empty()) first = key;
  }
}

}  // namespace

void read_request(const Cursor& in, PartOf<Request> part) {
  config::read_table(in, request_keys, part);
}

void read_response(const Cursor& in, PartOf<Response> part) {
  part.to.is_written = true;
  if (!config::read_table(in, response_keys, part)) return;
  exclude(in, {"body", "json", "events", "failure"});
  exclude(in, {"status", "failure"});
  exclude(in, {"grpc_status", "failure"});
  exclude(in, {"after", "until"});
}

}  // namespace weir::scenario
