#include "rls/reservation_messages.hpp"

#include <algorithm>

#include "grpc/protobuf_writer.hpp"
#include "rls/descriptor_reader.hpp"

namespace weir::rls {
namespace {

using grpc::ProtobufReader;

constexpr std::uint64_t longest_ttl_s = 3600;
constexpr std::string_view bad_ttl = "the ttl is negative or longer than an hour";

/// google.protobuf.Duration. Like every message, one that follows another is merged with it.
struct Ttl {
  std::uint64_t seconds = 0;
  std::uint32_t nanos = 0;

  bool is_valid() const {
    return nanos < 1'000'000'000 && seconds <= longest_ttl_s - (nanos > 0 ? 1 : 0);
  }
  Duration length() const {
    return std::chrono::seconds(static_cast<std::int64_t>(seconds)) +
           std::chrono::ceil<Duration>(std::chrono::nanoseconds(nanos));
  }
};

void read_ttl(ProtobufReader& from, Ttl& to) {
  from.message([&](ProtobufReader& field) {
    if (field.number() == 1) field.integer(to.seconds);
    if (field.number() == 2) field.integer(to.nanos);
  });
}

void take_amount(Request& to, const Reservation& reservation) {
  for (Descriptor& descriptor : to.descriptors) {
    descriptor.hits_addend = reservation.amount;
    descriptor.is_negative_hits = false;
  }
}

}  // namespace

std::string_view read_reserve(std::string_view message, Request& to, Reservation& reservation) {
  to.clear();
  reservation = {};
  Ttl ttl;
  const auto reason = ProtobufReader::read_fields(message, [&](ProtobufReader& field) {
    if (field.number() == 1) field.text(to.domain);
    if (field.number() == 2) read_descriptor(field, to);
    if (field.number() == 3) field.integer(reservation.amount);
    if (field.number() == 4) read_ttl(field, ttl);
  });
  if (!reason.empty()) return reason;
  if (!ttl.is_valid()) return bad_ttl;
  reservation.ttl = ttl.length();
  take_amount(to, reservation);
  return {};
}

std::string_view read_commit(std::string_view message, Request& to, Reservation& reservation) {
  to.clear();
  reservation = {};
  const auto reason = ProtobufReader::read_fields(message, [&](ProtobufReader& field) {
    if (field.number() == 1) field.text(to.domain);
    if (field.number() == 2) read_descriptor(field, to);
    if (field.number() == 3) field.text(reservation.id);
    if (field.number() == 4) field.integer(reservation.amount);
  });
  take_amount(to, reservation);
  return reason;
}

void append_reserve_response(std::string& out, Code code, std::string_view id) {
  grpc::ProtobufWriter(out).integer(1, static_cast<std::int64_t>(code)).text(2, id);
}

void append_commit_response(std::string& out, bool is_released) {
  grpc::ProtobufWriter(out).integer(1, is_released ? 1 : 0);
}

}  // namespace weir::rls
