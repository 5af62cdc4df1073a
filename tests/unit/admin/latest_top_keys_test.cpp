#include "admin/latest_top_keys.hpp"

#include <string>
#include <vector>

#include "catch.hpp"

namespace weir::admin {
namespace {

using namespace std::chrono_literals;

status::TopKeys list_of(const std::string& hash) {
  status::TopKeys list;
  list.keys.push_back({.hash = hash});
  return list;
}

}  // namespace

TEST_CASE("another list is requested every five seconds, and the latest is shown until it is old") {
  std::vector<std::function<void(status::TopKeys)>> asked;
  LatestTopKeys top([&](auto done) { asked.push_back(std::move(done)); });
  const Instant begin{};
  const auto shown_at = [&](Duration at) -> std::string {
    const auto keys = top.at(begin + at);
    return keys ? keys->keys.at(0).hash : "none";
  };
  CHECK(shown_at(0s) == "none");
  CHECK(asked.size() == 1);
  asked[0](list_of("first"));
  CHECK(shown_at(1s) == "first");
  CHECK(shown_at(4'999ms) == "first");
  CHECK(asked.size() == 1);
  CHECK(shown_at(5s) == "first");
  CHECK(asked.size() == 2);
  // The second one never comes.
  CHECK(shown_at(15s) == "first");
  CHECK(asked.size() == 3);
  CHECK(shown_at(15'001ms) == "none");
  asked[2](list_of("third"));
  CHECK(shown_at(16s) == "third");
}

TEST_CASE("without a source there is no list, and a list may come after its reader has gone") {
  CHECK_FALSE(LatestTopKeys({}).at({}).has_value());
  std::function<void(status::TopKeys)> late;
  LatestTopKeys([&](auto done) { late = std::move(done); }).at({});
  late(list_of("late"));
}

}  // namespace weir::admin
