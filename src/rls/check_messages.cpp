#include "rls/check_messages.hpp"

#include <algorithm>
#include <utility>

#include "grpc/protobuf_reader.hpp"
#include "grpc/protobuf_writer.hpp"

namespace weir::rls {
namespace {

using grpc::ProtobufReader;
using grpc::ProtobufWriter;

/// envoy.config.core.v3.SocketAddress; port_value and named_port are a oneof.
void read_socket_address(ProtobufReader& from, CheckRequest& to) {
  from.message([&](ProtobufReader& field) {
    if (field.number() == 2) field.text(to.source_address);
    if (field.number() == 3) field.integer(to.source_port);
    if (field.number() == 4) {
      std::string_view name;
      field.text(name);
      to.source_port = 0;
    }
  });
}

/// envoy.config.core.v3.Address: a oneof of a socket, a pipe and an internal address.
void read_address(ProtobufReader& from, CheckRequest& to) {
  from.message([&](ProtobufReader& field) {
    if (field.number() == 1) {
      read_socket_address(field, to);
    } else if (field.number() == 2 || field.number() == 3) {
      field.message([](ProtobufReader&) {});
      to.source_address = {};
      to.source_port = 0;
    }
  });
}

/// Returns false, and refuses the message, if it has too many.
bool has_room_for_header(ProtobufReader& from, const CheckRequest& to) {
  if (to.headers.size() < most_check_headers) return true;
  from.fail("the request has more than 256 headers");
  return false;
}

/// An entry of map<string, string>: the last one with a key wins.
void read_map_entry(ProtobufReader& from, CheckRequest& to) {
  http::Field header;
  from.message([&](ProtobufReader& field) {
    if (field.number() == 1) field.text(header.name);
    if (field.number() == 2) field.text(header.value);
  });
  const auto same = std::ranges::find(to.headers, header.name, &http::Field::name);
  if (same != to.headers.end())
    same->value = header.value;
  else if (has_room_for_header(from, to))
    to.headers.push_back(header);
}

/// envoy.config.core.v3.HeaderMap: values of HeaderValue, whose value is text or bytes.
void read_header_map(ProtobufReader& from, CheckRequest& to) {
  from.message([&](ProtobufReader& field) {
    if (field.number() != 1 || !has_room_for_header(field, to)) return;
    http::Field& header = to.headers.emplace_back();
    field.message([&](ProtobufReader& part) {
      if (part.number() == 1) part.text(header.name);
      if (part.number() == 2) part.text(header.value);
      if (part.number() == 3) part.bytes(header.value);
    });
  });
}

/// AttributeContext.HttpRequest
void read_http_request(ProtobufReader& from, CheckRequest& to) {
  from.message([&](ProtobufReader& field) {
    switch (field.number()) {
      case 1:
        return field.text(to.id);
      case 2:
        return field.text(to.method);
      case 3:
        return read_map_entry(field, to);
      case 4:
        return field.text(to.path);
      case 5:
        return field.text(to.host);
      case 6:
        return field.text(to.scheme);
      case 7:
        return field.text(to.query);
      case 8:
        return field.text(to.fragment);
      case 9: {
        std::uint64_t size = 0;
        field.integer(size);
        to.size = static_cast<std::int64_t>(size);
        return;
      }
      case 10:
        return field.text(to.protocol);
      case 11:
        return field.text(to.body);
      case 12:
        return field.bytes(to.raw_body);
      case 13:
        return read_header_map(field, to);
      default:
        return;
    }
  });
}

/// AttributeContext
void read_attributes(ProtobufReader& from, CheckRequest& to) {
  from.message([&](ProtobufReader& field) {
    if (field.number() == 1) {  // the source, a Peer
      field.message([&](ProtobufReader& peer) {
        if (peer.number() == 1) read_address(peer, to);
      });
    }
    if (field.number() == 4) {  // AttributeContext.Request
      field.message([&](ProtobufReader& request) {
        if (request.number() == 2) read_http_request(request, to);
      });
    }
  });
}

/// envoy.config.core.v3.HeaderValueOption for each field. Without `append`,
/// OVERWRITE_IF_EXISTS_OR_ADD means the same to every version of Envoy.
void write_headers(ProtobufWriter& to, std::uint32_t number, const http::FieldSection& headers) {
  constexpr int overwrite_if_exists_or_add = 2;
  for (const http::Field header : headers) {
    to.message(number, [&](ProtobufWriter& option) {
      option.message(1, [&](ProtobufWriter& value) {  // HeaderValue
        value.text(1, header.name).text(2, header.value);
      });
      option.integer(3, overwrite_if_exists_or_add);
    });
  }
}

/// OkHttpResponse
void write_allowed(ProtobufWriter& to, const CheckResponse& response) {
  write_headers(to, 2, response.request_headers);
  write_headers(to, 6, response.response_headers);
}

/// DeniedHttpResponse
void write_denied(ProtobufWriter& to, const CheckResponse& response) {
  to.message(1, [&](ProtobufWriter& status) { status.integer(1, response.http_status); });
  write_headers(to, 2, response.response_headers);
  to.text(3, response.body);
}

}  // namespace

void CheckRequest::clear() {
  std::vector<http::Field> memory = std::move(headers);
  memory.clear();
  *this = {};
  headers = std::move(memory);
}

void CheckResponse::clear() {
  status = grpc::Status::ok;
  message.clear();
  http_status = CheckResponse{}.http_status;
  body.clear();
  request_headers.clear();
  response_headers.clear();
}

std::string_view read_protobuf(std::string_view message, CheckRequest& to) {
  to.clear();
  return ProtobufReader::read_fields(message, [&](ProtobufReader& field) {
    if (field.number() == 1) read_attributes(field, to);
  });
}

void append_protobuf(std::string& out, const CheckResponse& response) {
  ProtobufWriter writer(out);
  writer.message(1, [&](ProtobufWriter& to) {  // google.rpc.Status
    to.integer(1, code_of(response.status)).text(2, response.message);
  });
  if (response.status == grpc::Status::ok)
    writer.message(3, [&](ProtobufWriter& to) { write_allowed(to, response); });
  else
    writer.message(2, [&](ProtobufWriter& to) { write_denied(to, response); });
}

}  // namespace weir::rls
