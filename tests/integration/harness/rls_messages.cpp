// Reads and writes messages of the rate limit service by the room rls, for rls_messages_test.py.
// A line of the input is a command and its arguments, an x and hexadecimal digits each.
//
//   request MESSAGE              a RateLimitRequest
//   json TEXT                    the same in JSON
//   response MESSAGE METADATA... a RateLimitResponse without its dynamic metadata, and the metadata
//                                of limits in JSON
//   check MESSAGE                a CheckRequest
//   reserve MESSAGE, commit MESSAGE   a ReserveRequest and a CommitRequest of Kuadrant
//
// The answer is `no REASON`, or `yes` and the message that was read, as Protocol Buffers. A
// response follows again as JSON. For a CheckRequest the parts that Weir keeps are listed instead.
// A reservation is a RateLimitRequest, the amount, the ttl in microseconds and the id.
// All are hexadecimal digits.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <list>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "grpc/protobuf_reader.hpp"
#include "rls/check_messages.hpp"
#include "rls/json_messages.hpp"
#include "rls/protobuf_messages.hpp"
#include "rls/reservation_messages.hpp"
#include "unit/rls/written_request.hpp"

namespace {

using namespace weir;
using grpc::ProtobufReader;

/// Without spare capacity: AddressSanitizer reports a read beyond the end.
std::vector<char> decoded(const std::string& digits) {
  std::vector<char> bytes;
  for (std::size_t i = 1; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return {bytes.begin(), bytes.end()};
}

std::string encoded(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

rls::CurrentLimit read_limit(ProtobufReader& from) {
  rls::CurrentLimit limit;
  from.message([&](ProtobufReader& field) {
    if (field.number() == 1) field.integer(limit.requests_per_unit);
    if (field.number() == 2) field.enumerator(limit.unit, options::rate_limit_unit_count);
    if (field.number() == 3) field.text(limit.name);
  });
  return limit;
}

Duration read_duration(ProtobufReader& from) {
  std::uint64_t seconds = 0;
  std::uint64_t nanoseconds = 0;
  from.message([&](ProtobufReader& field) {
    if (field.number() == 1) field.integer(seconds);
    if (field.number() == 2) field.integer(nanoseconds);
  });
  return Duration(static_cast<std::int64_t>(seconds * 1'000'000 + nanoseconds / 1'000));
}

rls::DescriptorStatus read_status(ProtobufReader& from) {
  rls::DescriptorStatus status{.code = rls::Code::unknown};
  from.message([&](ProtobufReader& field) {
    if (field.number() == 1) field.enumerator(status.code, 3);
    if (field.number() == 2) status.current_limit = read_limit(field);
    if (field.number() == 3) field.integer(status.limit_remaining);
    if (field.number() == 4) status.duration_until_reset = read_duration(field);
  });
  return status;
}

void read_header(ProtobufReader& from, http::FieldSection& to) {
  std::string_view name;
  std::string_view value;
  from.message([&](ProtobufReader& field) {
    if (field.number() == 1) field.text(name);
    if (field.number() == 2) field.text(value);
  });
  to.add(name, value);
}

std::string_view read_response(std::string_view message, rls::Response& to) {
  return ProtobufReader::read_fields(message, [&](ProtobufReader& field) {
    if (field.number() == 1) field.enumerator(to.overall_code, 3);
    if (field.number() == 2) to.statuses.push_back(read_status(field));
    if (field.number() == 3) read_header(field, to.response_headers_to_add);
  });
}

std::string listed(const rls::CheckRequest& request) {
  const std::string port = std::to_string(request.source_port);
  const std::string size = std::to_string(request.size);
  std::vector<std::string_view> parts = {
      request.source_address, port,           request.id,      request.method,   request.path,
      request.host,           request.scheme, request.query,   request.fragment, size,
      request.protocol,       request.body,   request.raw_body};
  for (const http::Field& header : request.headers) {
    parts.push_back(header.name);
    parts.push_back(header.value);
  }
  std::string line = "yes";
  for (const std::string_view part : parts)
    line += ' ' + encoded(part);
  return line;
}

std::string answer(const std::string& line) {
  std::istringstream words(line);
  std::string command;
  std::string first;
  words >> command >> first;
  const std::vector<char> bytes = decoded(first);
  const std::string_view message(bytes.data(), bytes.size());
  const auto refused = [](std::string_view reason) { return "no " + encoded(reason); };
  if (command == "response") {
    rls::Response response;
    if (const auto reason = read_response(message, response); !reason.empty())
      return refused(reason);
    std::list<rls::Metadata> limits;
    for (std::string word; words >> word;) {
      const std::vector<char> metadata = decoded(word);
      response.dynamic_metadata.add(
          limits.emplace_back(rls::encoded_metadata({metadata.data(), metadata.size()})));
    }
    std::string out;
    append_protobuf(out, response);
    std::string json;
    append_json(json, response);
    return "yes " + encoded(out) + ' ' + encoded(json);
  }
  if (command == "check") {
    rls::CheckRequest check;
    const std::string_view reason = rls::read_protobuf(message, check);
    return reason.empty() ? listed(check) : refused(reason);
  }
  rls::Request request;
  if (command == "reserve" || command == "commit") {
    rls::Reservation kept;
    const std::string_view reason = command == "reserve" ? read_reserve(message, request, kept)
                                                         : read_commit(message, request, kept);
    if (!reason.empty()) return refused(reason);
    return "yes " + encoded(written(request)) + ' ' + encoded(std::to_string(kept.amount)) + ' ' +
           encoded(std::to_string(kept.ttl.count())) + ' ' + encoded(kept.id);
  }
  const std::string reason = command == "json" ? read_json(message, request)
                                               : std::string(read_protobuf(message, request));
  return reason.empty() ? "yes " + encoded(written(request)) : refused(reason);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line))
    std::cout << answer(line) << '\n';
}
