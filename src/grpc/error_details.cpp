#include "grpc/error_details.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "grpc/protobuf_writer.hpp"

namespace weir::grpc {

std::string retry_details(Status status, std::string_view message, Duration retry_after) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(retry_after);
  const std::chrono::nanoseconds rest = retry_after - seconds;
  std::string delay;  // google.protobuf.Duration
  ProtobufWriter(delay).integer(1, seconds.count()).integer(2, rest.count());
  std::string info;  // google.rpc.RetryInfo
  ProtobufWriter(info).bytes(1, delay);
  std::string any;  // google.protobuf.Any
  ProtobufWriter(any).bytes(1, "type.googleapis.com/google.rpc.RetryInfo").bytes(2, info);
  std::string details;  // google.rpc.Status
  ProtobufWriter(details).integer(1, code_of(status)).bytes(2, message).bytes(3, any);
  return details;
}

void append_binary(std::string& out, std::string_view bytes) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::uint32_t bits = 0;
  unsigned count = 0;  // of bits that have not been written
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6)
      out.push_back(alphabet[bits >> (count - 6) & 63]);
  }
  if (count > 0) out.push_back(alphabet[bits << (6 - count) & 63]);
}

}  // namespace weir::grpc
