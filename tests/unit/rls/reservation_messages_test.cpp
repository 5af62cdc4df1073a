#include "rls/reservation_messages.hpp"

#include <chrono>
#include <string>

#include "catch.hpp"
#include "grpc/protobuf_writer.hpp"

namespace weir::rls::test {
namespace {

using namespace std::chrono_literals;
using grpc::ProtobufWriter;

void write_descriptor(ProtobufWriter& to) {
  to.text(1, "d").message(2, [](ProtobufWriter& descriptor) {
    descriptor.message(1, [](ProtobufWriter& entry) { entry.text(1, "user").text(2, "ann"); });
  });
}

std::string reserve(std::int64_t amount, std::int64_t seconds, std::int64_t nanos) {
  std::string message;
  ProtobufWriter writer(message);
  write_descriptor(writer);
  writer.integer(3, amount).message(
      4, [&](ProtobufWriter& ttl) { ttl.integer(1, seconds).integer(2, nanos); });
  return message;
}

}  // namespace

TEST_CASE("a Reserve is read with its amount as the hits of each descriptor") {
  Request request;
  Reservation reservation;
  const std::string message = reserve(7, 30, 500'000'001);
  CHECK(read_reserve(message, request, reservation).empty());
  CHECK(request.domain == "d");
  REQUIRE(request.descriptors.size() == 1);
  CHECK(request.descriptors[0].hits_addend == 7);
  CHECK(request.entries_of(request.descriptors[0])[0] == Entry{"user", "ann"});
  CHECK(reservation.ttl == 30s + 500ms + 1us);  // rounded up
  CHECK(read_reserve(reserve(1, 3600, 0), request, reservation).empty());
  CHECK(reservation.ttl == 1h);
}

TEST_CASE("a time to live that follows another is merged with it") {
  std::string message = reserve(7, 30, 0);
  ProtobufWriter(message).message(4, [&](ProtobufWriter& ttl) { ttl.integer(2, 1'000); });
  Request request;
  Reservation reservation;
  CHECK(read_reserve(message, request, reservation).empty());
  CHECK(reservation.ttl == 30s + 1us);
}

TEST_CASE("a time to live that cannot be is refused") {
  Request request;
  Reservation reservation;
  for (const std::string& message : {reserve(1, 3601, 0), reserve(1, 3600, 1), reserve(1, -1, 0),
                                     reserve(1, 0, -1), reserve(1, 0, 1'000'000'000)})
    CHECK(read_reserve(message, request, reservation) ==
          "the ttl is negative or longer than an hour");
  CHECK_FALSE(read_reserve("\x08", request, reservation).empty());
}

TEST_CASE("a Commit is read with its id and what it has cost") {
  std::string message;
  ProtobufWriter writer(message);
  write_descriptor(writer);
  writer.text(3, "00ff").integer(4, 9);
  Request request;
  Reservation reservation;
  CHECK(read_commit(message, request, reservation).empty());
  CHECK(reservation.id == "00ff");
  CHECK(reservation.amount == 9);
  CHECK(request.descriptors.at(0).hits_addend == 9);
}

TEST_CASE("the response to a Reserve has the code, and the id of a reservation") {
  std::string out;
  append_reserve_response(out, Code::ok, "ab");
  CHECK(out ==
        "\x08\x01\x12\x02"
        "ab");
  out.clear();
  append_reserve_response(out, Code::over_limit, "");
  CHECK(out.substr(0, 2) == "\x08\x02");
}

TEST_CASE("the response to a Commit states whether the reservation is released") {
  std::string out;
  append_commit_response(out, true);
  CHECK(out == "\x08\x01");
  out.clear();
  append_commit_response(out, false);
  CHECK(out.empty());  // the default of proto3
}

}  // namespace weir::rls::test
