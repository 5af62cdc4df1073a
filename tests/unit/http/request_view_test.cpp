#include "http/request_view.hpp"

#include <string>

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::http {
namespace {

TEST_CASE("find gives the first field of a name, whatever its case") {
  const RequestOf request{
      {{"Host", "a"}, {"X-Api-Key", "first"}, {"x-api-key", "second"}, {"HOST", "b"}}};
  CHECK(request.view.find(FieldId::host)->value == "a");
  CHECK(request.view.find("x-API-key")->value == "first");
  CHECK(request.view.find("host")->value == "a");
  CHECK(request.view.find("x-api") == nullptr);
  CHECK(request.view.find("x-api-key2") == nullptr);
  CHECK(request.view.find(FieldId::cookie) == nullptr);
  CHECK(RequestOf{{}}.view.find("host") == nullptr);
}

TEST_CASE("a preflight request is OPTIONS with Access-Control-Request-Method and without a body") {
  const auto is = [](std::string_view method, std::initializer_list<NameValue> fields) {
    RequestOf request{fields};
    request.view.method = method;
    return is_preflight(request.view);
  };
  const NameValue wanted{"access-control-request-method", "PUT"};
  CHECK(is("OPTIONS", {wanted}));
  CHECK(is("OPTIONS", {{"Origin", "https://a.example"}, wanted, {"Content-Length", "0"}}));
  CHECK_FALSE(is("OPTIONS", {{"Origin", "https://a.example"}}));
  CHECK_FALSE(is("POST", {wanted}));
  CHECK_FALSE(is("options", {wanted}));
  CHECK_FALSE(is("OPTIONS", {wanted, {"Content-Length", "1"}}));
  CHECK_FALSE(is("OPTIONS", {wanted, {"Transfer-Encoding", "chunked"}}));
  CHECK_FALSE(is("OPTIONS", {wanted, wanted}));
  CHECK_FALSE(is("OPTIONS", {wanted, {"Upgrade", "websocket"}}));
  CHECK(is("OPTIONS", {wanted, {"Connection", "keep-alive"}}));
  CHECK_FALSE(is("OPTIONS", {wanted, {"Connection", "close, Access-Control-request-method"}}));
  for (const std::string value : {"", "(", "POST GET"})
    CHECK_FALSE(is("OPTIONS", {{"access-control-request-method", value}}));
}

TEST_CASE("iequals folds ASCII letters and nothing else") {
  CHECK(iequals("Content-TYPE", "content-type"));
  CHECK(iequals("", ""));
  CHECK_FALSE(iequals("a", "ab"));
  CHECK_FALSE(iequals("a-b", "a\rb"));  // 0x2d and 0x0d differ in the bit that folds case
  CHECK_FALSE(iequals("@", "`"));
  CHECK_FALSE(iequals("[", "{"));
  CHECK_FALSE(iequals("\xc3\x89", "\xc3\xa9"));
}

TEST_CASE("iequals compares every character, however long the names are") {
  for (std::size_t size = 1; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      const std::string name(size, 'n');
      std::string other(size, 'N');
      REQUIRE(iequals(name, other));
      for (const char c : {'m', 'M', '.', '\0', '\x2e', '\xee', '\xce'}) {
        other[at] = c;
        REQUIRE_FALSE(iequals(name, other));
        REQUIRE_FALSE(iequals(other, name));
      }
    }
  }
}

}  // namespace
}  // namespace weir::http
