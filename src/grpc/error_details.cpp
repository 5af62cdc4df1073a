#include "grpc/error_details.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "grpc/protobuf_writer.hpp"

namespace weir::grpc {

void append_retry_details(std::string& out, Status status, std::string_view message,
                          Duration retry_after) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(retry_after);
  const std::chrono::nanoseconds rest = retry_after - seconds;
  const auto delay = [&](ProtobufWriter& to) {  // google.protobuf.Duration
    to.integer(1, seconds.count()).integer(2, rest.count());
  };
  const auto info = [&](ProtobufWriter& to) { to.message(1, delay); };  // google.rpc.RetryInfo
  const auto any = [&](ProtobufWriter& to) {                            // google.protobuf.Any
    to.bytes(1, "type.googleapis.com/google.rpc.RetryInfo").message(2, info);
  };
  // google.rpc.Status
  ProtobufWriter(out).integer(1, code_of(status)).bytes(2, message).message(3, any);
}

void append_binary(Appender& out, std::string_view bytes) {
  constexpr std::string_view alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::uint32_t bits = 0;
  unsigned count = 0;  // of bits that have not been written
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6)
      out.add(alphabet[bits >> (count - 6) & 63]);
  }
  if (count > 0) out.add(alphabet[bits << (6 - count) & 63]);
}

}  // namespace weir::grpc
