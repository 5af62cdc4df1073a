#include "http/header_list.hpp"

#include "catch.hpp"

namespace weir::http {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t plenty = 10'000;

/// The fields of a list, after finish().
Pairs listed_fields(HeaderList& list) {
  std::vector<FieldView> views;
  list.finish(views);
  Pairs fields;
  for (const FieldView& view : views)
    fields.emplace_back(view.name, view.value);
  return fields;
}

TEST_CASE("the memory of a list counts after another one has begun, too") {
  HeaderList list;
  CHECK(list.buffer_size() < 100);
  list.begin(100'000);
  list.add("x", std::string(50'000, 'v'));
  list.begin(100'000);
  CHECK(list.buffer_size() >= 50'000);
}

TEST_CASE("pseudo-header fields are kept apart from the others") {
  HeaderList list;
  list.begin(plenty);
  list.add(":method", "GET");
  list.add(":scheme", "https");
  list.add(":path", "/a?b");
  list.add(":authority", "a.example");
  list.add(":protocol", "websocket");
  list.add("x-key", "1");
  list.add("host", "a.example");
  CHECK(listed_fields(list) == Pairs{{"x-key", "1"}, {"host", "a.example"}});
  CHECK(list.method() == "GET");
  CHECK(list.scheme() == "https");
  CHECK(list.path() == "/a?b");
  CHECK(list.authority() == "a.example");
  CHECK(list.protocol() == "websocket");
}

TEST_CASE("the ids of known fields are found") {
  HeaderList list;
  list.begin(plenty);
  list.add("content-length", "7");
  list.add("x-key", "1");
  std::vector<FieldView> views;
  list.finish(views);
  CHECK(views.at(0).id == FieldId::content_length);
  CHECK(views.at(1).id == FieldId::unknown);
}

TEST_CASE("crumbs of Cookie become one field at the place of the first") {
  HeaderList list;
  list.begin(plenty);
  list.add("a", "1");
  list.add("cookie", "x=1");
  list.add("b", "2");
  list.add("cookie", "y=2");
  list.add("cookie", std::string(3000, 'z'));
  CHECK(listed_fields(list) ==
        Pairs{{"a", "1"}, {"cookie", "x=1; y=2; " + std::string(3000, 'z')}, {"b", "2"}});

  list.begin(plenty);
  list.add("cookie", "only=1");
  CHECK(listed_fields(list) == Pairs{{"cookie", "only=1"}});
}

TEST_CASE("a list is too large by its bytes, with an overhead for each field, or by their number") {
  HeaderList list;
  list.begin(2 * (2 + field_overhead));
  list.add("a", "1");
  list.add("b", "2");
  CHECK_FALSE(list.is_too_large());
  list.add("c", "");
  CHECK(list.is_too_large());
  CHECK(list.size() == 5 + 3 * field_overhead);
  CHECK(listed_fields(list).size() == 2);

  list.begin(1'000'000);
  for (int i = 0; i < 256; ++i)
    list.add(i % 2 == 0 ? "cookie" : "a", "1");
  CHECK_FALSE(list.is_too_large());
  list.add("cookie", "1");
  CHECK(list.is_too_large());
}

TEST_CASE("a list begins again without the last request") {
  HeaderList list;
  list.begin(10);
  list.add(":path", "/0123456789");
  list.add("cookie", "a");
  CHECK(list.is_too_large());
  list.begin(plenty);
  CHECK_FALSE(list.is_too_large());
  CHECK(list.path().empty());
  CHECK(listed_fields(list).empty());
}

}  // namespace
}  // namespace weir::http
