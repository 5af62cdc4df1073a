#include "rls/descriptor_reader.hpp"

#include <string>

#include "catch.hpp"
#include "grpc/protobuf_writer.hpp"

using weir::grpc::ProtobufReader;
using weir::grpc::ProtobufWriter;
using weir::rls::Entry;
using weir::rls::Request;

TEST_CASE("a descriptor has entries, a limit and hits of its own") {
  std::string message;
  ProtobufWriter(message).message(2, [](ProtobufWriter& descriptor) {
    descriptor.message(1, [](ProtobufWriter& entry) { entry.text(1, "a").text(2, "1"); })
        .message(1, [](ProtobufWriter& entry) { entry.text(1, "b").text(2, ""); })
        .message(2, [](ProtobufWriter& limit) { limit.integer(1, 5).integer(2, 3); })
        .message(3, [](ProtobufWriter& hits) { hits.integer(1, 7); })
        .integer(4, 1);
  });
  Request request;
  const auto reason = ProtobufReader::read_fields(
      message, [&](ProtobufReader& field) { weir::rls::read_descriptor(field, request); });
  CHECK(reason.empty());
  REQUIRE(request.descriptors.size() == 1);
  const auto& descriptor = request.descriptors[0];
  const auto entries = request.entries_of(descriptor);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0] == Entry{"a", "1"});
  CHECK(entries[1] == Entry{"b", ""});
  CHECK(descriptor.limit->requests_per_unit == 5);
  CHECK(descriptor.limit->unit == weir::options::RateLimitUnit::hour);
  CHECK(descriptor.hits_addend == 7);
  CHECK(descriptor.is_negative_hits);
}
