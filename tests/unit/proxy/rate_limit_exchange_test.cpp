// Calls of the rate limit service, through the phases of an exchange.
#include "proxy/rate_limit_exchange.hpp"

#include <string>
#include <string_view>

#include "catch.hpp"
#include "decision/header_list_inspection.hpp"
#include "grpc/protobuf_writer.hpp"
#include "proxy/grpc_message.hpp"
#include "proxy/rate_limit_methods.hpp"
#include "unit/proxy/exchanged.hpp"

namespace weir::proxy::test {
namespace {

using grpc::ProtobufWriter;

constexpr std::int64_t quota = 100;

/// A service with one limit, and room for one reservation.
class ReservingExchange : public Exchanged {
 public:
  ReservingExchange()
      : Exchanged([](Configuration& settings) {
          options::Route unused;
          limit(settings, unused, "p", by_key).numbers = store::test::gcra(quota);
          settings.most_holds = 1;
          settings.rate_limit_service = options::RateLimitService{
              .descriptors = {{.domain = "d",
                               .entries = {{.key = "a"}},
                               .policy = settings.limiter.policies.size() - 1,
                               .key = {"a"}}},
              .identity = by_key,
              .reservations = true};
        }) {}

  /// Reserves units; returns the line of the access log.
  std::string reserve(std::int64_t amount) {
    std::string body;
    begin_grpc_message(body);
    ProtobufWriter(body)
        .text(1, "d")
        .message(2,
                 [](ProtobufWriter& descriptor) {
                   descriptor.message(
                       1, [](ProtobufWriter& entry) { entry.text(1, "a").text(2, "1"); });
                 })
        .integer(3, amount);
    end_grpc_message(body);
    has_ended = false;
    client.responder.begin_request();
    ClientSide side = client.side;
    side.serves = options::Serves::rate_limit_service;
    exchange.begin(side);
    auto& request = exchange.request();
    request.peer = request.client = IpAddress::v4({192, 0, 2, 1});
    list_ = {};
    list_.begin(4096);
    list_.add(":method", "POST");
    list_.add(":scheme", "http");
    list_.add(":authority", "weir");
    list_.add(":path", kuadrant_reserve);
    list_.add("content-type", "application/grpc");
    list_.add("te", "trailers");
    REQUIRE_FALSE(
        decision::inspect_header_list(*exchange.generation().request_rules, list_, true, request));
    request.is_grpc_call = true;
    client.body.begin(true);
    client.body.arrive(std::move(body));
    client.body.end();
    loop::spawn(world.io, note_end(exchange.serve(), has_ended));
    world.poll();
    std::string line = finish();
    exchange.release();
    return line;
  }

 private:
  http::HeaderList list_;
};

}  // namespace

TEST_CASE("A reservation without room in the directory is refused and holds nothing") {
  ReservingExchange service;
  service.reserve(7);
  CHECK(service.response().status == 200);
  CHECK_FALSE(service.response().body.empty());
  CHECK(service.store.settle_calls == 0);

  const std::string line = service.reserve(5);
  CAPTURE(line, service.response().fields, service.response().trailers);
  CHECK(service.response().body.empty());
  CHECK(holds(service.response().fields, "too many reservations are open"));
  REQUIRE(service.store.settled.size() == 1);
  CHECK(service.store.settled[0].actual == 0);
}

}  // namespace weir::proxy::test
