#include "http/trailers.hpp"

#include "catch.hpp"
#include "unit/http/lines_of.hpp"
#include "unit/http/request_of.hpp"

using namespace weir::http;

namespace {

const FieldGuard trailer_guard{{.own = {"X-Api-Key"}}};

Trailers opened(std::initializer_list<NameValue> lines, bool only_announced = true) {
  const auto head = fields_of(lines);
  Trailers trailers;
  trailers.open({.head = head,
                 .connection = connection_options(head),
                 .guard = &trailer_guard,
                 .only_announced = only_announced});
  for (const auto& field :
       fields_of({{"X-Sum", "1"}, {"x-other", "2"}, {"Host", "h"}, {"X_Api_Key", "k"}}))
    trailers.add(field);
  return trailers;
}

}  // namespace

TEST_CASE("P7: trailer fields go on as they were announced") {
  const Trailers one = opened({{"Trailer", "x-sum, Host,, x-api-key"}, {"trailer", "X-Sum"}});
  CHECK(one.announced() == "x-sum");
  CHECK(lines_of(one.fields()) == "X-Sum: 1\r\n");
  CHECK(opened({}).fields().empty());
}

TEST_CASE("P7: a client that wants them gets those that were not announced, too") {
  const Trailers all = opened({{"Trailer", "X-Sum"}}, false);
  CHECK(all.announced() == "X-Sum");
  CHECK(lines_of(all.fields()) == "X-Sum: 1\r\nx-other: 2\r\n");
}

TEST_CASE("H1: a trailer field that Connection names ends here") {
  const Trailers one = opened({{"Trailer", "X-Sum, X-Other"}, {"Connection", "x-sum"}});
  CHECK(one.announced() == "X-Other");
  CHECK(lines_of(one.fields()) == "x-other: 2\r\n");
}

TEST_CASE("P7: without having been opened all are dropped") {
  Trailers closed;
  closed.add(fields_of({{"X-Sum", "1"}})[0]);
  CHECK(closed.fields().empty());
}

TEST_CASE("a trailer field that the route sets or removes ends here") {
  const FieldEdits edits({{"X-Sum", "0"}}, {}, {"X-Other"});
  const auto head = fields_of({{"Trailer", "X-Sum, x-other, x-kept"}});
  Trailers trailers;
  trailers.open({.head = head, .connection = {}, .only_announced = false, .edits = &edits});
  for (const auto& field : fields_of({{"x-sum", "1"}, {"X-Other", "2"}, {"X-Kept", "3"}}))
    trailers.add(field);
  CHECK(trailers.announced() == "x-kept");
  CHECK(lines_of(trailers.fields()) == "X-Kept: 3\r\n");
}
