#include "catch.hpp"
#include "unit/config/loading.hpp"
#include "unit/tls/made_certificate.hpp"

namespace weir::config {
namespace {

using test::must_load;
using test::problems_of;
using Names = std::vector<std::string>;

/// A listener with a usable certificate and key: every problem comes from `more`.
class Listener {
 public:
  std::string problems(const std::string& more) const { return problems_of(text(more), in()); }
  tls::Parameters loaded(const std::string& more) const {
    return must_load(text(more), in())->listen[0].tls;
  }

 private:
  static std::string text(const std::string& more) {
    return "listen: [{address: a:1, tls: {certificate: crt, private_key: key, " + more + "}}]\n" +
           test::route_tail;
  }
  Environment in() const {
    return test::environment({}, std::filesystem::path(made_.files().certificate).parent_path());
  }
  tls::test::MadeCertificate made_{"one.test"};
};

TEST_CASE("the TLS parameters of a listener") {
  const Listener listener;
  const auto usual = listener.loaded("");
  CHECK(usual.min_version == tls::Version::tls12);
  CHECK(usual.groups == Names{"X25519", "P-256", "P-384"});
  CHECK(usual.ciphers == Names{});

  const auto chosen =
      listener.loaded("min_version: 1.3, groups: [P-521, X448], ciphers: [TLS_AES_256_GCM_SHA384]");
  CHECK(chosen.min_version == tls::Version::tls13);
  CHECK(chosen.groups == Names{"P-521", "X448"});
  CHECK(chosen.ciphers == Names{"TLS_AES_256_GCM_SHA384"});
  const auto both = listener.loaded(
      "min_version: \"1.2\", ciphers: [ECDHE-RSA-AES128-GCM-SHA256, TLS_AES_128_GCM_SHA256]");
  CHECK(both.min_version == tls::Version::tls12);
  CHECK(both.ciphers == Names{"ECDHE-RSA-AES128-GCM-SHA256", "TLS_AES_128_GCM_SHA256"});
}

TEST_CASE("TLS parameters that are refused, with those that are allowed") {
  const Listener listener;
  const std::string groups = "X25519, P-256, P-384, P-521, X448";
  const std::string ciphers =
      "ECDHE-ECDSA-AES128-GCM-SHA256, ECDHE-RSA-AES128-GCM-SHA256, ECDHE-ECDSA-AES256-GCM-SHA384, "
      "ECDHE-RSA-AES256-GCM-SHA384, ECDHE-ECDSA-CHACHA20-POLY1305, ECDHE-RSA-CHACHA20-POLY1305, "
      "TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256";
  const std::string finite =
      "finite-field Diffie-Hellman is not allowed, because a handshake with it can cost the "
      "worker a hundred times one with X25519; use ";
  struct Row {
    std::string yaml, problem;
  };
  const Row rows[] = {
      {"min_version: \"1.1\"",
       "min_version: expected 1.2 or 1.3 (here \"1.1\"); did you mean \"1.2\"?"},
      {"groups: []", "groups: expected a list"},
      {"groups: X25519",
       "groups: expected a list of groups, such as [X25519, P-256], found a single"},
      {"groups: [ffdhe8192]", "groups[0]: " + finite + groups + " (here \"ffdhe8192\")"},
      {"groups: [prime256v1]", "groups[0]: write P-256 (here \"prime256v1\")"},
      {"groups: [P256]",
       "groups[0]: expected X25519, P-256, P-384, P-521 or X448 (here \"P256\"); did you mean "
       "\"P-256\"?"},
      {"groups: [P-256, P-256]", "groups[1]: the list has this one already (here \"P-256\")"},
      {"ciphers: []", "ciphers: expected a list"},
      {"ciphers: [DHE-RSA-AES128-GCM-SHA256]",
       "ciphers[0]: " + finite + ciphers + " (here \"DHE-RSA-AES128-GCM-SHA256\")"},
      {"ciphers: [AES128-SHA]",
       "ciphers[0]: only ciphers with ECDHE are allowed: the others have no forward secrecy; use " +
           ciphers + " (here \"AES128-SHA\")"},
      {"ciphers: [ECDHE-RSA-AES128-SHA]",
       "ciphers[0]: only ciphers with authenticated encryption (GCM, ChaCha20-Poly1305) are "
       "allowed; use " +
           ciphers},
      {"ciphers: [TLS_AES_128_CCM_SHA256]", "ciphers[0]: expected ECDHE-ECDSA-AES128-GCM-SHA256, "},
      {"ciphers: [ECDHE-RSA-AES128-GCM-SHA256, ECDHE-RSA-AES128-GCM-SHA256]",
       "ciphers[1]: the list has this one already"},
      {"min_version: 1.3, ciphers: [ECDHE-RSA-AES128-GCM-SHA256]",
       "ciphers: min_version is 1.3, and ECDHE-RSA-AES128-GCM-SHA256 is for TLS 1.2; remove it or "
       "set min_version: \"1.2\"\n"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.yaml);
    const std::string found = listener.problems(row.yaml);
    const auto place = found.find("listen[0].tls.");
    REQUIRE(place != std::string::npos);
    CHECK(found.substr(place + 14, row.problem.size()) == row.problem);
    CHECK(std::count(found.begin(), found.end(), '\n') == 1);
  }
}

}  // namespace
}  // namespace weir::config
