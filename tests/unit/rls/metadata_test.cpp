#include "rls/metadata.hpp"

#include <list>
#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::rls {
namespace {

using namespace std::string_view_literals;

std::string json_of(const DynamicMetadata& metadata) {
  std::string out;
  Appender to(out);
  append_json(to, metadata);
  out.resize(to.size());
  return out;
}

std::string struct_of(const DynamicMetadata& metadata) {
  std::string out;
  grpc::ProtobufWriter to(out);
  write_struct(to, 6, metadata);
  return out;
}

TEST_CASE("the metadata of several limits are merged, and the first value of a name counts") {
  const struct {
    std::vector<std::string> metadata;
    std::string policy, expected;
  } rows[] = {
      {{}, "", "{}"},
      {{""}, "", "{}"},
      {{}, "p", R"({"policy":"p"})"},
      {{R"({"a":1})"}, "", R"({"metadata":{"a":1}})"},
      {{R"({"a": "as written"})"}, "", R"({"metadata":{"a": "as written"}})"},
      {{"", R"({"a":1})", R"({"a":1})"}, "p", R"({"policy":"p","metadata":{"a":1}})"},
      {{R"({"a":1})", R"({"a":2,"b":[true,null,"x",{"l":[]}]})"},
       "",
       R"({"metadata":{"a":1,"b":[true,null,"x",{"l":[]}]}})"},
      {{R"({"o":{"a":1}})", R"({"o":{"a":2,"b":1.5}})"},
       "",
       R"({"metadata":{"o":{"a":1,"b":1.5}}})"},
      {{R"({"o":{"p":{"a":1}}})", R"({"o":2})", R"({"o":{"p":{"b":2},"z":{}}})"},
       "",
       R"({"metadata":{"o":{"p":{"a":1,"b":2},"z":{}}}})"},
      {{R"({"o":1})", R"({"o":{"b":2}})", R"({"z":3})"}, "", R"({"metadata":{"o":1,"z":3}})"},
      {{R"({"a":1})", R"({"b":2})", R"({"a":3,"b":4,"c":5})"},
       "",
       R"({"metadata":{"a":1,"b":2,"c":5}})"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.expected);
    std::list<Metadata> encoded;
    DynamicMetadata metadata;
    for (const std::string& one : row.metadata)
      metadata.add(encoded.emplace_back(encoded_metadata(one)));
    metadata.policy = row.policy;
    CHECK(metadata.empty() == (row.expected == "{}"));
    CHECK(json_of(metadata) == row.expected);
    // Written as that of one limit. json::read() orders members by name.
    const std::size_t begin = row.expected.find(R"("metadata":)");
    if (begin == std::string::npos) continue;
    const std::size_t value = begin + R"("metadata":)"sv.size();
    DynamicMetadata whole{.policy = row.policy};
    whole.add(encoded.emplace_back(
        encoded_metadata(row.expected.substr(value, row.expected.size() - value - 1))));
    REQUIRE(whole.limits.size() == 1);
    CHECK(struct_of(metadata) == struct_of(whole));
  }
}

TEST_CASE("dynamic metadata is a google.protobuf.Struct") {
  const Metadata limit = encoded_metadata(R"({"k":true})");
  CHECK(limit.fields == "\x0a\x07\x0a\x01k\x12\x02\x20\x01"sv);
  DynamicMetadata metadata;
  CHECK(struct_of(metadata) == "\x32\x00"sv);
  metadata.policy = "p";
  const std::string policy = "\x0a\x0d\x0a\x06policy\x12\x03\x1a\x01p";
  CHECK(struct_of(metadata) == "\x32\x0f" + policy);
  metadata.add(limit);
  const std::string own = "\x0a\x17\x0a\x08metadata\x12\x0b\x2a\x09" + limit.fields;
  CHECK(struct_of(metadata) == "\x32\x28" + policy + own);
  metadata.clear();
  CHECK(metadata.empty());
}

TEST_CASE("text that is not an object within the limits is no metadata") {
  CHECK(encoded_metadata("[]").json.empty());
  CHECK(encoded_metadata("{").json.empty());
  std::string deep = R"({"k":)";
  for (int i = 0; i < 40; ++i)
    deep += '[';
  CHECK(encoded_metadata(deep + std::string(40, ']') + '}').json.empty());
}

}  // namespace
}  // namespace weir::rls
