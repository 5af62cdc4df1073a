#include "rls/metadata.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

using weir::rls::MetadataBuilder;

TEST_CASE("The metadata of several limits are merged, and the first value of a name counts") {
  const struct {
    std::vector<std::string> metadata;
    std::string policy, expected;
  } rows[] = {
      {{}, "", ""},
      {{""}, "", ""},
      {{}, "p", R"({"policy":"p"})"},
      {{R"({"a":1})"}, "", R"({"metadata":{"a":1}})"},
      {{"", R"({"a":1})", R"({"a":1})"}, "p", R"({"policy":"p","metadata":{"a":1}})"},
      {{R"({"a":1})", R"({"a":2,"b":[true,null,"x"]})"},
       "",
       R"({"metadata":{"a":1,"b":[true,null,"x"]}})"},
      {{R"({"o":{"a":1}})", R"({"o":{"a":2,"b":1.5}})"},
       "",
       R"({"metadata":{"o":{"a":1,"b":1.5}}})"},
  };
  for (const auto& row : rows) {
    MetadataBuilder builder;
    for (const std::string& one : row.metadata)
      builder.merge(one);
    if (!row.policy.empty()) builder.set_policy(row.policy);
    std::string out;
    builder.append(out);
    CHECK(out == row.expected);
  }
}
