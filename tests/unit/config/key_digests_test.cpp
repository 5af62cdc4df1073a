#include "config/key_digests.hpp"

#include <filesystem>
#include <fstream>

#include "catch.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

using Keys = std::vector<std::string>;

/// The sections of a file, by name, of which a test replaces some.
std::string file_with(const std::map<std::string, std::string>& changes) {
  std::map<std::string, std::string> sections{
      {"listen", "[{address: \"127.0.0.1:80\"}]"},
      {"admin", "\"off\""},
      {"client_address", "{trusted_proxies: [127.0.0.1]}"},
      {"store", "{type: redis, redis: {url: \"redis://r:1\", replicas: 2}, memory: {max_keys: 9}}"},
      {"upstreams", "{api: {servers: [{url: \"http://127.0.0.1:1\"}]}}"},
      {"identities", "{client: {client_address: {}}, key: {header: x-api-key}}"},
      {"address_lists", "{office: [192.0.2.0/24]}"},
      {"policies", "{p: {algorithm: gcra, rate: 10/1s}, q: {algorithm: gcra, rate: 20/1s}}"},
      {"plans", "{free: {}, gold: {p: {rate: 30/1s}}}"},
      {"plan_from", "[{header: x-plan}]"},
      {"routes",
       "[{name: to_p, match: {path: /p}, upstream: api, limits: [{policy: p, key: client}]},"
       " {name: to_q, match: {path: /q, address: office}, upstream: api,"
       "  limits: [{policy: q, key: key}]}]"}};
  for (const auto& [name, value] : changes)
    sections[name] = value;
  std::string yaml;
  for (const auto& [name, value] : sections) {
    if (!value.empty()) yaml += name + ": " + value + "\n";
  }
  return yaml;
}

Keys changed_by(const std::map<std::string, std::string>& changes) {
  return changed_keys(test::must_load(file_with({}))->key_digests,
                      test::must_load(file_with(changes))->key_digests);
}

}  // namespace

TEST_CASE("a key is changed if its value is, and is named as in the file") {
  const struct {
    const char* what;
    std::map<std::string, std::string> changes;
    Keys keys;
  } rows[] = {
      {"nothing", {}, {}},
      {"spaces and the order of keys",
       {{"policies", "{q: {rate: 20/1s,  algorithm: 'gcra'}, p: {algorithm: gcra, rate: 10/1s}}"}},
       {}},
      {"a section", {{"listen", "[{address: \"127.0.0.1:81\"}]"}}, {"listen"}},
      {"a new section", {{"downstream", "{max_head: 16KiB}"}}, {"downstream"}},
      {"a section that is gone", {{"admin", ""}}, {"admin"}},
      {"a part of a section with named entries",
       {{"store",
         "{type: redis, redis: {url: \"redis://r:1\", replicas: 3}, memory: {max_keys: 9}}"}},
       {"store.redis"}},
      {"an entry, and not those that refer to it",
       {{"policies", "{p: {algorithm: gcra, rate: 11/1s}, q: {algorithm: gcra, rate: 20/1s}}"}},
       {"policies.p"}},
      {"a plan", {{"plans", "{free: {}, gold: {p: {rate: 31/1s}}}"}}, {"plans.gold"}},
      {"an address list",
       {{"address_lists", "{office: [192.0.2.0/25]}"}},
       {"address_lists.office"}},
      {"new entries come before those that are gone",
       {{"identities", "{client: {client_address: {}}, name: {header: x-api-key}}"},
        {"routes",
         "[{name: to_p, match: {path: /p}, upstream: api, "
         "limits: [{policy: p, key: name}]}]"}},
       {"identities.name", "routes.to_p", "identities.key", "routes.to_q"}},
      {"the order of routes, which decides",
       {{"routes",
         "[{name: to_q, match: {path: /q, address: office}, upstream: api,"
         "  limits: [{policy: q, key: key}]},"
         " {name: to_p, match: {path: /p}, upstream: api, limits: [{policy: p, key: client}]}]"}},
       {"routes"}},
      {"what needs a restart is listed elsewhere",
       {{"workers", "2"},
        {"identity_secret", "a secret of this test"},
        {"store",
         "{type: memory, redis: {url: \"redis://r:1\", replicas: 2}, memory: {max_keys: 9}}"}},
       {}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.what);
    CHECK(changed_by(row.changes) == row.keys);
  }
}

TEST_CASE("values are compared with their variables and files, and are not kept") {
  const std::string path =
      (std::filesystem::temp_directory_path() / "weir_key_digests_test").string();
  const auto digests_with = [&](const std::string& variable, const std::string& content) {
    std::ofstream(path) << content;
    const std::string yaml = "admin: {address: \"127.0.0.1:0\", token: \"file:" + path +
                             "\"}\n"
                             "address_lists: {office: {file: " +
                             path +
                             "}}\n"
                             "downstream: {max_head: \"${SIZE}\"}\n" +
                             test::route_tail;
    return test::must_load(yaml, test::environment({{"SIZE", variable}}))->key_digests;
  };
  const KeyDigests before = digests_with("16KiB", "192.0.2.1");
  CHECK(changed_keys(before, digests_with("16KiB", "192.0.2.1")).empty());
  CHECK(changed_keys(before, digests_with("24KiB", "192.0.2.1")) == Keys{"downstream"});
  CHECK(changed_keys(before, digests_with("16KiB", "192.0.2.2")) ==
        Keys{"admin", "address_lists.office"});
  std::filesystem::remove(path);
}

}  // namespace weir::config
