#include "rls/merged_members.hpp"

#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace weir::rls {
namespace {

/// The names in order, each with the number of its objects.
using Members = std::vector<std::pair<std::string, std::size_t>>;

Members merged(const std::vector<std::string>& texts) {
  std::vector<json::Value> trees;
  for (const std::string& text : texts)
    trees.push_back(*json::read(text, {}));
  std::vector<const json::Value*> objects;
  for (const json::Value& tree : trees)
    objects.push_back(&tree);
  Members members;
  each_merged_member(objects, [&](const json::Member& member, MergedObjects of_name) {
    members.emplace_back(member.name, of_name.size());
  });
  return members;
}

TEST_CASE("a name is visited once, with the objects that it is merged from") {
  const struct {
    std::vector<std::string> texts;
    Members members;
  } rows[] = {
      {{}, {}},
      {{"{}", "{}"}, {}},
      {{R"({"a":1,"b":{}})"}, {{"a", 0}, {"b", 1}}},
      {{R"({"b":1})", R"({"a":2,"b":3})"}, {{"b", 0}, {"a", 0}}},
      {{R"({"a":{}})", R"({"a":{}})", R"({"a":{}})"}, {{"a", 3}}},
      {{R"({"a":{}})", R"({"a":1})", R"({"a":{}})"}, {{"a", 2}}},
      {{R"({"a":1})", R"({"a":{}})"}, {{"a", 0}}},
      {{R"({"a":1})", R"({"b":{}})", R"({"b":{}})"}, {{"a", 0}, {"b", 2}}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.texts);
    CHECK(merged(row.texts) == row.members);
  }
}

}  // namespace
}  // namespace weir::rls
