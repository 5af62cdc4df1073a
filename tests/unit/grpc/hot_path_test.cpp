// The code that every message runs allocates nothing.
#include <string>
#include <string_view>

#include "catch.hpp"
#include "grpc/protobuf_reader.hpp"
#include "grpc/protobuf_writer.hpp"
#include "unit/http/allocations.hpp"

namespace weir::grpc {
namespace {

TEST_CASE("a message is written and read without an allocation") {
  std::string out;
  out.reserve(1'000);
  const std::string text(200, 'x');
  std::string_view read;
  CHECK(allocations_in([&] {
          ProtobufWriter(out).message(1, [&](ProtobufWriter& to) {
            to.integer(1, 300).bytes(2, text).message(
                3, [&](ProtobufWriter& inner) { inner.text(1, text).present_double(2, 1); });
          });
          ProtobufReader::read_fields(out, [&](ProtobufReader& field) {
            field.message([&](ProtobufReader& inner) {
              if (inner.number() == 2) inner.text(read);
            });
          });
        }) == 0);
  CHECK(read == text);
}

}  // namespace
}  // namespace weir::grpc
