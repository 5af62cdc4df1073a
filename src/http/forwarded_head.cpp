#include "http/forwarded_head.hpp"

#include "http/field_lines.hpp"
#include "http/forwarding.hpp"
#include "http/trailers.hpp"

namespace weir::http {
namespace {

void append_status_line(Appender& out, const StatusLine& line) {
  out.add("HTTP/1.1 ").number(line.status).add(' ').add(line.reason).add("\r\n");
}

/// True for fields that are not forwarded: hop-by-hop fields; Trailer, which is written again
/// because some trailer fields are dropped; and HTTP2-Settings, because h2c is never offered.
bool stays_here(const FieldView& field, const ConnectionOptions& connection) {
  return field.id == FieldId::trailer || field.id == FieldId::http2_settings ||
         is_hop_by_hop(field, connection);
}

bool is_taken_out(const FieldView& field, const FieldEdits* edits) {
  return edits != nullptr && edits->takes_out(field.name);
}

bool is_forwarding_field(const FieldView& field) {
  return iequals(field.name, "x-forwarded-for") || iequals(field.name, "x-forwarded-proto") ||
         iequals(field.name, "x-forwarded-host");
}

constexpr std::string_view request_id_name = "X-Request-Id";
constexpr std::string_view traceparent_name = "traceparent";

/// Whether X-Request-Id is written: there is an id, and the route sets no other value.
bool writes_id(std::string_view id, const FieldEdits* edits) {
  return !id.empty() && (edits == nullptr || !edits->writes(request_id_name));
}

/// True for a field that Weir's traceparent replaces. If it begins a trace, tracestate goes too,
/// because it belongs to the trace of the client (W3C Trace Context, section 4.3).
bool is_of_trace(const FieldView& field, const ReceivedRequest& request) {
  if (field.id != FieldId::unknown) return false;
  if (iequals(field.name, traceparent_name)) return true;
  return !request.continues_trace && iequals(field.name, "tracestate");
}

/// Weir's RateLimit fields and X-Request-Id replace the upstream's fields of the same name, so that
/// a client never receives two different limits.
bool is_replaced(const FieldView& field, const ClientHop& client) {
  if (field.id != FieldId::unknown) return false;
  if (!client.request_id.empty() && iequals(field.name, request_id_name)) return true;
  return client.limit_fields->contains(field.name);
}

/// Returns the Host value for an HTTP/1.0 request without a Host field.
std::string_view host_for(const RequestView& request, std::string_view server) {
  return request.authority.empty() ? server : request.authority;
}

/// Adds all X-Forwarded-For lines of a trusted peer's request as one list, then the peer.
template <class Fields>
void add_forwarded_for(Fields& fields, const ReceivedRequest& request) {
  fields.add_built("X-Forwarded-For", [&](Appender& out) {
    if (request.peer_is_trusted) {
      for (const auto& field : request.view.fields) {
        if (iequals(field.name, "x-forwarded-for") && !field.value.empty())
          out.add(field.value).add(", ");
      }
    }
    out.add(request.peer.text());
  });
}

template <class Fields>
void add_forwarding_fields(Fields& fields, const ReceivedRequest& request) {
  add_forwarded_for(fields, request);
  const bool is_trusted = request.peer_is_trusted;
  const auto* const proto = is_trusted ? request.view.find("x-forwarded-proto") : nullptr;
  fields.add("X-Forwarded-Proto", proto == nullptr ? request.scheme : proto->value);
  const auto* const host = is_trusted ? request.view.find("x-forwarded-host") : nullptr;
  const auto* const own_host = request.view.find(FieldId::host);
  if (host != nullptr) {
    fields.add("X-Forwarded-Host", host->value);
  } else if (own_host != nullptr) {
    fields.add("X-Forwarded-Host", own_host->value);
  }
}

/// Adds Max-Forwards, the only field whose value Weir changes (RFC 9110 section 7.6.2).
template <class Fields>
bool add_max_forwards(Fields& fields, const RequestView& request) {
  const auto left = max_forwards(request);
  if (!left || !left->has_value() || **left == 0) return false;
  fields.add_built("Max-Forwards", [&](Appender& out) { out.number(**left - 1); });
  return true;
}

/// True for a field that Weir writes itself, that is useless to the next hop, or that the peer is
/// not allowed to send.
[[gnu::always_inline]] inline bool is_not_forwarded(const FieldView& field,
                                                    const ReceivedRequest& request,
                                                    const FieldGuard& guard) {
  switch (field.id) {
    case FieldId::unknown:
      return guard.is_removed(field, request.peer_is_trusted) || is_forwarding_field(field);
    case FieldId::expect:
      return request.view.version_minor == 0 || guard.is_removed(field, request.peer_is_trusted);
    default:
      return guard.is_removed(field, request.peer_is_trusted);
  }
}

/// The start of Via: the version that the client speaks (RFC 9110 section 7.6.3).
std::string_view via_version(const RequestView& request) {
  if (request.version_major == 2) return "2.0 ";
  return request.version_minor == 0 ? "1.0 " : "1.1 ";
}

/// The hop-by-hop fields that Weir sends.
void append_hop_fields(Appender& out, const ReceivedRequest& request, std::string_view trailer) {
  const bool has_te = request.connection.name("te") && wants_trailers(request.view);
  const bool upgrades = !request.upgrade.empty();
  if (has_te) out.add("TE: trailers\r\n");
  if (has_te || upgrades)
    append_field_line(out, "Connection", !upgrades ? "TE" : has_te ? "TE, upgrade" : "upgrade");
  if (upgrades) append_field_line(out, "Upgrade", request.upgrade);
  if (!request.websocket_key.empty())
    append_field_line(out, "Sec-WebSocket-Key", request.websocket_key);
  if (!trailer.empty()) append_field_line(out, "Trailer", trailer);
  if (request.framing.kind == Framing::Kind::chunked)
    append_field_line(out, "Transfer-Encoding", "chunked");
}

/// The fields of a request that do not depend on the version of HTTP, except Host.
template <class Fields>
void add_request(Fields& fields, const ReceivedRequest& request, const ForwardedHop& hop) {
  const auto& view = request.view;
  const bool has_id = writes_id(request.id, hop.edits);
  const bool has_traceparent = !request.traceparent.empty();
  for (const auto& field : view.fields) {
    if (stays_here(field, request.connection) || is_not_forwarded(field, request, hop.guard))
      continue;
    if (is_taken_out(field, hop.edits)) continue;
    if (has_id && field.id == FieldId::unknown && iequals(field.name, request_id_name)) continue;
    if (has_traceparent && is_of_trace(field, request)) continue;
    if (hop.wants_identity_coding && field.id == FieldId::accept_encoding) continue;
    if (field.id == FieldId::max_forwards && add_max_forwards(fields, view)) continue;
    fields.add(field);
  }
  if (hop.wants_identity_coding) fields.add("Accept-Encoding", "identity");
  if (hop.edits != nullptr) fields.add(hop.edits->added());
  fields.add_built("Via", [&](Appender& out) { out.add(via_version(view)).add(hop.via); });
  add_forwarding_fields(fields, request);
  if (has_id) fields.add(request_id_name, request.id);
  if (has_traceparent && (hop.edits == nullptr || !hop.edits->takes_out(traceparent_name)))
    fields.add(traceparent_name, request.traceparent);
}

template <class Fields>
void add_added(Fields& fields, const ClientHop& client, const FieldEdits* edits) {
  fields.add(*client.limit_fields);
  if (writes_id(client.request_id, edits)) fields.add(request_id_name, client.request_id);
}

/// The fields of a response that do not depend on the version of HTTP.
template <class Fields>
void add_response(Fields& fields, const ResponseHead& head, const ClientHop& client,
                  std::string_view date) {
  bool has_date = false;
  const bool bodiless_status = head.line.status == 204;
  for (const auto& field : head.fields) {
    if (stays_here(field, head.connection)) continue;
    if (field.id == FieldId::content_length && bodiless_status) continue;
    if (is_replaced(field, client) || is_taken_out(field, head.edits)) continue;
    has_date |= field.id == FieldId::date;
    fields.add(field);
  }
  if (!has_date) fields.add("Date", date);
  if (head.edits != nullptr) fields.add(head.edits->added());
  add_added(fields, client, head.edits);
}

template <class Fields>
void add_interim(Fields& fields, const ResponseHead& head) {
  for (const auto& field : head.fields) {
    if (!is_hop_by_hop(field, head.connection) && field.id != FieldId::content_length &&
        !is_taken_out(field, head.edits))
      fields.add(field);
  }
}

}  // namespace

void add_added_fields(FieldLines& lines, const ClientHop& client, const FieldEdits* edits) {
  add_added(lines, client, edits);
}

void add_added_fields(FieldSection& fields, const ClientHop& client, const FieldEdits* edits) {
  add_added(fields, client, edits);
}

void append_request_head(std::string& text, const ReceivedRequest& request,
                         const ForwardedHop& hop) {
  Appender out(text);
  const auto& view = request.view;
  const std::string_view target = hop.target.empty() ? view.target : hop.target;
  out.add(view.method).add(" ").add(target).add(" HTTP/1.1\r\n");
  if (view.find(FieldId::host) == nullptr && (hop.edits == nullptr || !hop.edits->writes("host")))
    append_field_line(out, "Host", host_for(view, hop.authority));
  FieldLines lines(out);
  add_request(lines, request, hop);
  append_hop_fields(out, request, hop.trailer);
  out.add("\r\n");
}

RequestPseudoFields add_request_fields(FieldSection& fields, const ReceivedRequest& request,
                                       const ForwardedHop& hop) {
  const auto& view = request.view;
  add_request(fields, request, hop);
  if (wants_trailers(view) && request.connection.name("te")) fields.add("te", "trailers");
  if (!hop.trailer.empty()) fields.add("Trailer", hop.trailer);
  const auto* const host = view.find(FieldId::host);
  RequestPseudoFields pseudo{
      .method = view.method,
      .authority = host == nullptr ? host_for(view, hop.authority) : host->value,
      .path = hop.target.empty() ? view.target : hop.target};
  if (hop.edits == nullptr) return pseudo;
  for (const Field field : hop.edits->added()) {
    if (iequals(field.name, "host")) pseudo.authority = field.value;
  }
  return pseudo;
}

bool is_chunked_for(const ClientHop& client, Framing::Kind body) {
  return client.version_minor == 1 &&
         (body == Framing::Kind::chunked || body == Framing::Kind::until_close);
}

void append_response_head(std::string& text, const ResponseHead& head, const ClientHop& client,
                          std::string_view date) {
  Appender out(text);
  append_status_line(out, head.line);
  FieldLines lines(out);
  add_response(lines, head, client, date);
  const bool chunk = is_chunked_for(client, head.body.kind);
  if (chunk && !head.trailer.empty()) append_field_line(out, "Trailer", head.trailer);
  if (chunk) append_field_line(out, "Transfer-Encoding", "chunked");
  append_connection(out, client);
}

void append_interim_head(std::string& text, const ResponseHead& head) {
  Appender out(text);
  append_status_line(out, head.line);
  FieldLines lines(out);
  add_interim(lines, head);
  out.add("\r\n");
}

void add_response_fields(FieldSection& fields, const ResponseHead& head, const ClientHop& client,
                         std::string_view date) {
  add_response(fields, head, client, date);
  if (!head.trailer.empty()) fields.add("Trailer", head.trailer);
}

void add_interim_fields(FieldSection& fields, const ResponseHead& head) {
  add_interim(fields, head);
}

void add_switching_fields(FieldSection& fields, const ResponseHead& head, const ClientHop& client) {
  for (const auto& field : head.fields) {
    if (is_hop_by_hop(field, head.connection) || field.id == FieldId::content_length) continue;
    if (iequals(field.name, "sec-websocket-accept")) continue;
    if (is_replaced(field, client) || is_taken_out(field, head.edits)) continue;
    fields.add(field);
  }
  if (head.edits != nullptr) fields.add(head.edits->added());
  add_added(fields, client, head.edits);
}

void append_switching_head(std::string& text, const ResponseHead& head, const ClientHop& client) {
  Appender out(text);
  out.add("HTTP/1.1 101 ").add(head.line.reason).add("\r\n");
  for (const auto& field : head.fields) {
    const bool stays = is_hop_by_hop(field, head.connection) && field.id != FieldId::upgrade;
    if (is_replaced(field, client) || is_taken_out(field, head.edits)) continue;
    if (!stays && field.id != FieldId::content_length)
      append_field_line(out, field.name, field.value);
  }
  if (head.edits != nullptr) append_field_lines(out, head.edits->added());
  FieldLines lines(out);
  add_added_fields(lines, client, head.edits);
  out.add("Connection: upgrade\r\n\r\n");
}

void append_connection(Appender& out, const ClientHop& client) {
  if (!client.keep_alive) {
    out.add("Connection: close\r\n");
  } else if (client.version_minor == 0) {
    out.add("Connection: keep-alive\r\n");
  }
  out.add("\r\n");
}

}  // namespace weir::http
