#include "proxy/forwarded_head.hpp"

#include <random>

#include "base/appender.hpp"
#include "http/append_number.hpp"
#include "http/forwarding.hpp"
#include "http/hop_by_hop.hpp"
#include "proxy/trailers.hpp"

namespace weir::proxy {
namespace {

using http::FieldId;

void append_line(Appender& out, std::string_view name, std::string_view value) {
  out.add(name).add(": ").add(value).add("\r\n");
}

void append_status_line(Appender& out, const StatusLine& line) {
  out.add("HTTP/1.1 ").number(line.status).add(' ').add(line.reason).add("\r\n");
}

/// Fields of this hop; Trailer, which is written anew, for it announces what goes on; and what h2c,
/// which is never offered, would need.
bool stays_here(const http::FieldView& field, const http::ConnectionOptions& connection) {
  return field.id == FieldId::trailer || field.id == FieldId::http2_settings ||
         http::is_hop_by_hop(field, connection);
}

bool is_forwarding_field(const http::FieldView& field) {
  return http::iequals(field.name, "x-forwarded-for") ||
         http::iequals(field.name, "x-forwarded-proto") ||
         http::iequals(field.name, "x-forwarded-host");
}

/// A client that reads its limits in one field would not know which of two to believe: ours replace
/// the upstream's of the same name.
bool is_replaced(const http::FieldView& field, std::string_view limit_fields) {
  if (field.id != FieldId::unknown) return false;
  for (std::size_t at = 0; at < limit_fields.size(); at = limit_fields.find('\n', at) + 1) {
    const auto line = limit_fields.substr(at);
    if (http::iequals(field.name, line.substr(0, line.find(':')))) return true;
  }
  return false;
}

/// For a request of HTTP/1.0 without a Host field.
std::string host_for(const Exchange& exchange) {
  if (!exchange.request.authority.empty()) return std::string(exchange.request.authority);
  return exchange.server->authority();
}

/// Every X-Forwarded-For line of the request as one list, when the peer may speak for others.
void append_forwarded_for(Appender& out, const Exchange& exchange, const identity::IpAddress& peer,
                          bool peer_is_trusted) {
  out.add("X-Forwarded-For: ");
  if (peer_is_trusted) {
    for (const auto& field : exchange.request.fields) {
      if (http::iequals(field.name, "x-forwarded-for") && !field.value.empty())
        out.add(field.value).add(", ");
    }
  }
  out.add(peer.text());
  out.add("\r\n");
}

void append_forwarding_fields(Appender& out, const Exchange& exchange,
                              const identity::IpAddress& peer, bool peer_is_trusted) {
  append_forwarded_for(out, exchange, peer, peer_is_trusted);
  const auto* const proto = peer_is_trusted ? exchange.request.find("x-forwarded-proto") : nullptr;
  append_line(out, "X-Forwarded-Proto", proto == nullptr ? exchange.scheme : proto->value);
  const auto* const host = peer_is_trusted ? exchange.request.find("x-forwarded-host") : nullptr;
  const auto* const own_host = exchange.request.find(FieldId::host);
  if (host != nullptr) {
    append_line(out, "X-Forwarded-Host", host->value);
  } else if (own_host != nullptr) {
    append_line(out, "X-Forwarded-Host", own_host->value);
  }
}

/// The one field whose value changes on the way (RFC 9110 section 7.6.2).
bool append_max_forwards(Appender& out, const http::RequestView& request) {
  const auto left = http::max_forwards(request);
  if (!left || !left->has_value() || **left == 0) return false;
  out.add("Max-Forwards: ").number(**left - 1).add("\r\n");
  return true;
}

/// True for a field that Weir writes itself, that is of no use to the next hop, or that the peer
/// may not send.
bool is_not_forwarded(const http::FieldView& field, const http::RequestView& request,
                      const ForwardedHop& hop) {
  switch (field.id) {
    case FieldId::unknown:
      return hop.guard.is_removed(field, hop.peer_is_trusted) || is_forwarding_field(field);
    case FieldId::expect:
      return request.version_minor == 0 || hop.guard.is_removed(field, hop.peer_is_trusted);
    default:
      return hop.guard.is_removed(field, hop.peer_is_trusted);
  }
}

/// What we say to the next hop ourselves.
void append_hop_fields(Appender& out, const Exchange& exchange, std::string_view trailer) {
  const bool says_te = exchange.connection.name("te") && wants_trailers(exchange.request);
  const bool upgrades = !exchange.upgrade.empty();
  if (says_te) out.add("TE: trailers\r\n");
  if (says_te || upgrades)
    append_line(out, "Connection", !upgrades ? "TE" : says_te ? "TE, upgrade" : "upgrade");
  if (upgrades) append_line(out, "Upgrade", exchange.upgrade);
  if (!trailer.empty()) append_line(out, "Trailer", trailer);
  if (exchange.body.kind == http::Framing::Kind::chunked)
    append_line(out, "Transfer-Encoding", "chunked");
}

}  // namespace

std::string_view via_name() {
  static const std::string name = [] {
    std::string text = "weir-";
    http::append_number<16>(text, std::random_device{}());
    return text;
  }();
  return name;
}

void append_request_head(std::string& text, const Exchange& exchange, const ForwardedHop& hop) {
  Appender out(text);
  const auto& request = exchange.request;
  out.add(request.method).add(" ").add(request.target).add(" HTTP/1.1\r\n");
  if (request.find(FieldId::host) == nullptr) append_line(out, "Host", host_for(exchange));
  for (const auto& field : request.fields) {
    if (stays_here(field, exchange.connection) || is_not_forwarded(field, request, hop)) continue;
    if (field.id == FieldId::max_forwards && append_max_forwards(out, request)) continue;
    append_line(out, field.name, field.value);
  }
  out.add(request.version_minor == 0 ? "Via: 1.0 " : "Via: 1.1 ").add(via_name()).add("\r\n");
  append_forwarding_fields(out, exchange, hop.peer, hop.peer_is_trusted);
  append_hop_fields(out, exchange, hop.trailer);
  out.add("\r\n");
}

bool append_response_head(std::string& text, const ResponseHead& head, const Exchange& exchange,
                          std::string_view date) {
  Appender out(text);
  append_status_line(out, head.line);
  bool has_date = false;
  const bool bodiless_status = head.line.status == 204;
  for (const auto& field : head.fields) {
    if (stays_here(field, head.connection)) continue;
    if (field.id == FieldId::content_length && bodiless_status) continue;
    if (is_replaced(field, exchange.limit_fields)) continue;
    has_date |= field.id == FieldId::date;
    append_line(out, field.name, field.value);
  }
  if (!has_date) append_line(out, "Date", date);
  out.add(exchange.limit_fields);
  const bool chunk =
      exchange.request.version_minor == 1 && (head.body.kind == http::Framing::Kind::chunked ||
                                              head.body.kind == http::Framing::Kind::until_close);
  if (chunk && !head.trailer.empty()) append_line(out, "Trailer", head.trailer);
  if (chunk) append_line(out, "Transfer-Encoding", "chunked");
  append_connection(out, exchange);
  return chunk;
}

void append_interim_head(std::string& text, const ResponseHead& head) {
  Appender out(text);
  append_status_line(out, head.line);
  for (const auto& field : head.fields) {
    if (!http::is_hop_by_hop(field, head.connection) && field.id != FieldId::content_length)
      append_line(out, field.name, field.value);
  }
  out.add("\r\n");
}

void append_switching_head(std::string& text, const ResponseHead& head, const Exchange& exchange) {
  Appender out(text);
  out.add("HTTP/1.1 101 ").add(head.line.reason).add("\r\n");
  for (const auto& field : head.fields) {
    const bool stays = http::is_hop_by_hop(field, head.connection) && field.id != FieldId::upgrade;
    if (is_replaced(field, exchange.limit_fields)) continue;
    if (!stays && field.id != FieldId::content_length) append_line(out, field.name, field.value);
  }
  out.add(exchange.limit_fields).add("Connection: upgrade\r\n\r\n");
}

void append_connection(Appender& out, const Exchange& exchange) {
  if (!exchange.keep_alive) {
    out.add("Connection: close\r\n");
  } else if (exchange.request.version_minor == 0) {
    out.add("Connection: keep-alive\r\n");
  }
  out.add("\r\n");
}

}  // namespace weir::proxy
