// `paths`: the differences between spellings of a path that are ignored when it is matched.
#include <array>
#include <string_view>

#include "config/sections.hpp"

namespace weir::config {

namespace {

using routing::PathVariants;

constexpr std::array<std::string_view, 6> names{"letter_case",      "trailing_slash",
                                                "repeated_slashes", "dot_segments",
                                                "parameters",       "encoded_delimiters"};
constexpr std::array<bool PathVariants::*, 6> members{
    &PathVariants::letter_case,  &PathVariants::trailing_slash, &PathVariants::repeated_slashes,
    &PathVariants::dot_segments, &PathVariants::parameters,     &PathVariants::encoded_delimiters};

void read_variants(const Cursor& in, PathVariants& to) {
  for (const auto member : members)
    to.*member = false;
  const bool is_none = in.node().kind == Node::Kind::sequence && in.node().items.empty();
  if (is_none) return;
  for_each_item(in, "a list of differences, such as [letter_case]", names.size(),
                [&](const Cursor& item) {
                  if (const auto index = read_word(item, names)) to.*members[*index] = true;
                });
}

constexpr Key<PathVariants> path_keys[] = {
    {.name = "also_match", .read = read_variants},
};

}  // namespace

void read_paths(const Cursor& in, Config& to) {
  read_table(in, path_keys, to.path_variants);
}
void list_paths(const std::string& path, KeyPaths& out) {
  list_section<path_keys>(path, out);
}

}  // namespace weir::config
