// The option that names the members of JSON logs.
#include "replay/json_members.hpp"

#include "catch.hpp"

namespace weir::replay {

TEST_CASE("parts are read from the members that are named, and from no others") {
  const auto members = read_members(
      "time=ts,client=request.remote_ip,method=request.method,target=request.uri,duration=took,"
      "header:x-api-key=request.headers.X-Api-Key");
  REQUIRE(members.has_value());
  JsonLineReader reader(*members);
  const auto read = reader.read(
      R"({"ts":1767225600.5,"took":0.25,"status":200,"request":{"remote_ip":"192.0.2.1","method":"GET",)"
      R"("uri":"/a","headers":{"X-Api-Key":["k1"]}}})");
  REQUIRE(read.has_value());
  CHECK(read->client == IpAddress::parse("192.0.2.1"));
  CHECK(read->target == "/a");
  CHECK_FALSE(read->status);
  CHECK(read->duration == Duration{250'000});
  REQUIRE(read->fields.size() == 1);
  CHECK((read->fields[0].name == "x-api-key" && read->fields[0].value == "k1"));
}

TEST_CASE("the request line of nginx is read from its member") {
  JsonLineReader reader(read_members("time=msec,client=remote_addr,request=request").value());
  const auto read = reader.read(
      R"({"msec":"1767225600.500","remote_addr":"192.0.2.1","request":"GET /a?b=\u0022 HTTP/1.1"})");
  REQUIRE(read.has_value());
  CHECK((read->method == "GET" && read->target == "/a?b=\""));
}

TEST_CASE("a mistake in the option is described") {
  const auto problem = [](std::string_view text) { return read_members(text).error().message; };
  CHECK(problem("time") == "expected NAME=MEMBER, such as time=ts,client=request.remote_ip");
  CHECK(problem("time=") == "expected NAME=MEMBER, such as time=ts,client=request.remote_ip");
  CHECK(problem("when=ts").starts_with("unknown part \"when\"; the parts are"));
  CHECK(problem("header:a b=ts").starts_with("expected the name of a header"));
  CHECK(problem("time=ts,method=m") == "it needs target=MEMBER");
  CHECK(problem("time=ts,target=t") == "it needs method=MEMBER");
  CHECK(problem("time=ts") == "it needs request=MEMBER, or method=MEMBER and target=MEMBER");
  CHECK(problem("method=m,target=t") == "it needs time=MEMBER");
}

}  // namespace weir::replay
