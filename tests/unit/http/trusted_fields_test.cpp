#include "http/trusted_fields.hpp"

#include <set>

#include "catch.hpp"
#include "http/characters.hpp"

namespace weir::http {
namespace {

TEST_CASE("each name is listed once, in lower case, with an asterisk at its end only") {
  std::set<std::string_view> seen{cgi_proxy_field};
  const auto check = [&](std::string_view name) {
    CAPTURE(name);
    CHECK(seen.insert(name).second);
    const std::string_view text = name.substr(0, name.find('*'));
    CHECK(name.size() - text.size() <= 1);
    CHECK(is_token(text));
    for (const char c : text)
      CHECK(to_lower(c) == c);
  };
  for (const std::string_view name : origin_fields)
    check(name);
  for (const std::string_view name : removable_fields)
    check(name);
}

}  // namespace
}  // namespace weir::http
