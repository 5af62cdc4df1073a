#include "routing/original_request.hpp"

#include "catch.hpp"
#include "unit/http/request_of.hpp"

namespace weir::routing {
namespace {

using http::NameValue;
using http::Refusal;
using http::RequestOf;
using http::RequestView;

struct Read {
  std::optional<Refusal> refusal;
  RequestView view;
};

Read read(const RequestOf& asked, std::string& storage) {
  Read result;
  result.refusal = read_original_request(asked.view, result.view, storage);
  return result;
}

TEST_CASE("the original request is read from the fields of another proxy") {
  struct Row {
    const char* what;
    std::initializer_list<NameValue> fields;
    const char* method;
    const char* path;
    const char* query;
    const char* host;
  };
  const Row rows[] = {
      {"nginx",
       {{"Host", "weir"}, {"X-Original-Method", "POST"}, {"X-Original-URI", "/a/b?c=d"}},
       "POST",
       "/a/b",
       "c=d",
       "weir"},
      {"Traefik and Caddy",
       {{"Host", "weir"},
        {"X-Forwarded-Method", "DELETE"},
        {"X-Forwarded-Uri", "/x"},
        {"X-Forwarded-Host", "api.example.com:8443"}},
       "DELETE",
       "/x",
       "",
       "api.example.com"},
      {"no method: the question's own",
       {{"Host", "weir"}, {"X-Original-URI", "/a"}},
       "GET",
       "/a",
       "",
       "weir"},
      {"both families agree",
       {{"Host", "weir"}, {"X-Original-URI", "/a"}, {"x-forwarded-uri", "/a"}},
       "GET",
       "/a",
       "",
       "weir"},
      {"no target: it asks about itself",
       {{"Host", "weir"}, {"X-Forwarded-Method", "POST"}, {"X-Forwarded-Host", "other"}},
       "GET",
       "/asked",
       "q",
       "weir"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    RequestOf asked(row.fields);
    asked.view.target = "/asked?q";
    asked.view.path = "/asked";
    asked.view.query = "q";
    asked.view.host = "weir";
    std::string storage;
    const Read got = read(asked, storage);
    REQUIRE_FALSE(got.refusal.has_value());
    CHECK(got.view.method == row.method);
    CHECK(got.view.path == row.path);
    CHECK(got.view.query == row.query);
    CHECK(got.view.host == row.host);
  }
}

TEST_CASE("a request with two possible original requests is refused") {
  const std::initializer_list<NameValue> questions[] = {
      // The proxy set one of them; the client brought the other.
      {{"Host", "weir"}, {"X-Original-URI", "/dear"}, {"X-Forwarded-Uri", "/cheap"}},
      {{"Host", "weir"}, {"X-Original-URI", "/dear"}, {"X-Original-URI", "/cheap"}},
      {{"Host", "weir"},
       {"X-Original-URI", "/"},
       {"X-Original-Method", "GET"},
       {"X-Forwarded-Method", "POST"}},
      {{"Host", "weir"},
       {"X-Forwarded-Uri", "/"},
       {"X-Forwarded-Host", "a"},
       {"X-Forwarded-Host", "b"}},
      // Not a request at all.
      {{"Host", "weir"}, {"X-Original-URI", ""}},
      {{"Host", "weir"}, {"X-Original-URI", "/a b"}},
      {{"Host", "weir"}, {"X-Original-URI", "/a#b"}},
      {{"Host", "weir"}, {"X-Original-URI", "/"}, {"X-Original-Method", "G ET"}},
      {{"Host", "weir"}, {"X-Forwarded-Uri", "/"}, {"X-Forwarded-Host", "a b"}},
  };
  for (const auto& fields : questions) {
    const RequestOf asked(fields);
    std::string storage;
    const Read got = read(asked, storage);
    REQUIRE(got.refusal.has_value());
    CHECK(got.refusal->status == 400);
  }
}

TEST_CASE("the fields that describe the original request, as received and in their order") {
  struct Row {
    std::initializer_list<NameValue> fields;
    std::vector<std::string_view> names;
  };
  const Row rows[] = {
      {{{"Host", "weir"}, {"X-Original-Method", "PUT"}, {"A", "b"}, {"x-original-uri", "/"}},
       {"X-Original-Method", "x-original-uri"}},
      {{{"X-Forwarded-Uri", "/"}, {"X-Forwarded-Host", "a"}, {"X-Forwarded-Method", "PUT"}},
       {"X-Forwarded-Uri", "X-Forwarded-Host", "X-Forwarded-Method"}},
      // Without a target the others have no effect.
      {{{"X-Forwarded-Host", "a"}, {"X-Original-Method", "PUT"}}, {}},
  };
  for (const Row& row : rows) {
    const RequestOf asked(row.fields);
    CHECK(original_request_fields(asked.view) == row.names);
  }
}

}  // namespace
}  // namespace weir::routing
