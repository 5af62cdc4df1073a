#include "app/key_fetcher.hpp"
#include "catch.hpp"

namespace weir::app {
namespace {

using Level = LogLine::Level;
using Lines = std::vector<LogLine>;

const std::string url = "https://issuer.example/keys";

KeyReport report() {
  KeyReport made;
  made.set_subject("jwt provider idp");
  return made;
}

jwt::ReadKeySet set_of(std::size_t keys, std::vector<std::string> problems = {}) {
  return {.keys = jwt::KeySet(std::vector<jwt::Key>(keys)), .problems = std::move(problems)};
}

LogLine warning(const std::string& text) {
  return {Level::warning, "jwt provider idp: " + text};
}
LogLine info(const std::string& text) {
  return {Level::info, "jwt provider idp: " + text};
}

TEST_CASE("the reason of a failure is logged once, until it changes or is over") {
  KeyReport log = report();
  const std::string without_keys = "; tokens cannot be verified until the keys have been fetched";
  const std::string with_keys = "; the keys fetched before stay in use";
  const std::string from = "cannot fetch the keys from " + url + ": ";
  CHECK((log.failed(url, "refused", false) == Lines{warning(from + "refused" + without_keys)}));
  CHECK(log.failed(url, "refused", false).empty());
  CHECK((log.failed(url, "it answered 500", false) ==
         Lines{warning(from + "it answered 500" + without_keys)}));
  CHECK((log.failed(url, "refused", false) == Lines{warning(from + "refused" + without_keys)}));
  CHECK((log.fetched(url, set_of(2), "a") == Lines{info("fetched 2 keys from " + url)}));
  CHECK((log.failed(url, "refused", true) == Lines{warning(from + "refused" + with_keys)}));
  CHECK(log.failed(url, "refused", true).empty());
  CHECK((log.fetched_again() == Lines{info("the keys can be fetched again")}));
  CHECK(log.fetched_again().empty());
  CHECK((log.failed(url, "refused", true) == Lines{warning(from + "refused" + with_keys)}));
}

TEST_CASE("the problems of a set are logged once") {
  KeyReport log = report();
  const Lines first{info("fetched 1 key from " + url), warning("one"), warning("two")};
  CHECK((log.fetched(url, set_of(1, {"one", "two"}), "a") == first));
  CHECK((log.fetched(url, set_of(1, {"three"}), "b") ==
         Lines{info("fetched 1 key from " + url), warning("three")}));
  // Servers of an issuer may have different sets.
  CHECK((log.fetched(url, set_of(1, {"one", "two"}), "a") ==
         Lines{info("fetched 1 key from " + url)}));
  for (int i = 0; i < 16; ++i)
    log.fetched(url, set_of(1), "other " + std::to_string(i));
  CHECK((log.fetched(url, set_of(1, {"one", "two"}), "a") == first));
}

TEST_CASE("a set without usable keys is a warning, and many problems are counted") {
  KeyReport log = report();
  CHECK((log.fetched(url, set_of(0), "a") ==
         Lines{info("fetched 0 keys from " + url),
               warning("the set has no usable key; every token is rejected")}));
  // Each time, unlike the problems of its keys.
  CHECK(log.fetched(url, set_of(1), "good").size() == 1);
  CHECK((log.fetched(url, set_of(0, {"bad"}), "a") ==
         Lines{info("fetched 0 keys from " + url),
               warning("the set has no usable key; every token is rejected")}));
  const auto lines = log.fetched(url, set_of(1, std::vector<std::string>(1000, "bad")), "b");
  REQUIRE(lines.size() == 1 + KeyReport::listed_problems + 1);
  CHECK((lines.back() == warning("and 980 more problems of the set")));
  CHECK(log.fetched(url, set_of(1, std::vector<std::string>(20, "bad")), "c").size() == 21);
}

}  // namespace
}  // namespace weir::app
