#include "rls/reference_labels.hpp"

#include "catch.hpp"

namespace weir::rls::test {

TEST_CASE("The labels of a limit are the parts of its name, as the exporter splits it") {
  const auto labels = [](const std::string& name) {
    const auto [domain, key1, key2] = reference_labels(name);
    return domain + ' ' + key1 + ' ' + key2;
  };
  CHECK(labels("api.user") == "api user ");
  CHECK(labels("api.user_root.path_/a") == "api user_root path_/a");
  CHECK(labels("api.a.b.c.d") == "api a b");
  CHECK(labels("api.file_a.txt") == "api file_a txt");
  CHECK(labels("api.example.org.user") == "api example org");
  CHECK(labels("api.route_a:b|c") == "api route_a_b_c ");
  CHECK(labels("api.ip_192.0.2.1.user") == "api ip_192_0_2_1 user");
  CHECK(labels("api.ip_192.0.2.1/24") == "api ip_192_0_2_1/24 ");
  CHECK(labels("api.version_1.2.3") == "api version_1 2");
  CHECK(labels("api.ip_1234.0.2.1") == "api ip_1234_0_2_1 ");
  CHECK(labels("api.ip_1.2.3.4567.x") == "api ip_1_2_3_4567 x");
  CHECK(labels("api.a..b") == "api a ");
}

TEST_CASE("Names with the same labels become equal, and keep their labels") {
  const struct {
    std::string name, shortened;
  } rows[] = {
      {"api", "api"},
      {"api.user", "api.user"},
      {"api.user_a:b.path", "api.user_a_b.path"},
      {"api.user.path.more", "api.user.path"},
      {"api.user..more", "api.user."},
      {"api.ip_192.0.2.1.path.more", "api.ip_192_0_2_1.path"},
      {"api.ip_1.2.3.4.5.6.7.8.more", "api.ip_1_2_3_4.5_6_7_8"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    std::string name = row.name;
    shorten_to_labels(name);
    CHECK(name == row.shortened);
    CHECK(reference_labels(name) == reference_labels(row.name));
    shorten_to_labels(name);
    CHECK(name == row.shortened);
  }
}

}  // namespace weir::rls::test
