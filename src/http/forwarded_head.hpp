// The heads that Weir forwards: a request to the upstream, a response to the client. Pure: the text
// of HTTP/1 is appended to a flat buffer, the fields of HTTP/2 to a section.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/appender.hpp"
#include "http/field_edits.hpp"
#include "http/field_guard.hpp"
#include "http/field_lines.hpp"
#include "http/field_section.hpp"
#include "http/framing.hpp"
#include "http/head_parser.hpp"
#include "http/hop_by_hop.hpp"
#include "http/received_request.hpp"

namespace weir::http {

struct ForwardedHop {
  const FieldGuard& guard;
  std::string_view via;        ///< the name of this process in Via
  std::string_view authority;  ///< of the server: the value of Host if the client sent none
  std::string_view trailer{};  ///< the value of Trailer; empty: no such field
  std::string_view target{};   ///< in place of the received one; empty: that one
  const FieldEdits* edits = nullptr;
  bool wants_identity_coding = false;  ///< asks for a body without content coding
};

/// Appends the request line and the end-to-end fields in their order, then Via and X-Forwarded-For,
/// -Proto and -Host, and X-Request-Id if request.id is not empty. Fields that hop.guard removes are
/// left out, as are traceparent and tracestate if request.traceparent replaces them. The
/// X-Forwarded-For of a trusted peer is kept and the peer's address appended. The fields of
/// hop.edits follow those of the client. Max-Forwards of OPTIONS is decremented. With
/// hop.wants_identity_coding, Accept-Encoding is identity (RFC 9110 section 12.5.3). "TE: trailers"
/// is sent if the client named TE in Connection.
void append_request_head(std::string& text, const ReceivedRequest& request,
                         const ForwardedHop& hop);

/// The pseudo-header fields of a request (RFC 9113 section 8.3.1), without the scheme. They view
/// the request and the hop.
struct RequestPseudoFields {
  std::string_view method;
  std::string_view authority;
  std::string_view path;
};

/// Adds the fields of append_request_head() for a server of HTTP/2, where :authority replaces Host
/// and frames replace the fields about framing. Host is among the fields if the request has it: the
/// sender drops it.
RequestPseudoFields add_request_fields(FieldSection& fields, const ReceivedRequest& request,
                                       const ForwardedHop& hop);

struct ResponseHead {
  const StatusLine& line;
  std::span<const FieldView> fields;
  const ConnectionOptions& connection;
  Framing body;                ///< as received from the upstream
  std::string_view trailer{};  ///< the value of Trailer; empty: no such field
  const FieldEdits* edits = nullptr;
};

/// The client of a response, and what Weir adds for it.
struct ClientHop {
  std::uint8_t version_minor = 1;                 ///< of HTTP/1
  bool keep_alive = false;                        ///< the connection is kept after this response
  const FieldSection* limit_fields = &no_fields;  ///< the RateLimit fields
  std::string_view request_id{};  ///< the value of X-Request-Id; empty: no such field
};

/// True if the body is sent to the client in chunks.
bool is_chunked_for(const ClientHop& client, Framing::Kind body);

/// Appends the status line, end-to-end fields, RateLimit fields, framing and Connection in the form
/// that the client's HTTP version requires. `date`: for a response without a Date.
void append_response_head(std::string& text, const ResponseHead& head, const ClientHop& client,
                          std::string_view date);

/// Appends a 1xx response (RFC 9110 section 15.2). Fields that head.edits sets or removes are left
/// out; none are added, because a final response follows.
void append_interim_head(std::string& text, const ResponseHead& head);

/// Appends a 101 response, after which the connection uses the protocol in its Upgrade field.
void append_switching_head(std::string& text, const ResponseHead& head, const ClientHop& client);
/// Adds the fields of a 101 response for a client of HTTP/2, where it is a 200 without the fields
/// of the handshake (RFC 8441 section 5).
void add_switching_fields(FieldSection& fields, const ResponseHead& head, const ClientHop& client);

/// Adds the RateLimit fields, and X-Request-Id unless `edits` write it.
void add_added_fields(FieldLines& lines, const ClientHop& client, const FieldEdits* edits);
void add_added_fields(FieldSection& fields, const ClientHop& client, const FieldEdits* edits);

/// Add the fields of append_response_head() and append_interim_head() for a client of HTTP/2, whose
/// frames replace the fields about framing and connection (RFC 9113 section 8.2.2).
void add_response_fields(FieldSection& fields, const ResponseHead& head, const ClientHop& client,
                         std::string_view date);
void add_interim_fields(FieldSection& fields, const ResponseHead& head);

/// Appends the lines that end a head: Connection, unless it is the default of the version, and the
/// empty line.
void append_connection(Appender& out, const ClientHop& client);

}  // namespace weir::http
