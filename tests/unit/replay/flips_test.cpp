// The decisions of another configuration about the same requests.
#include "replay/flips.hpp"

#include "catch.hpp"
#include "config/load.hpp"
#include "replay/run.hpp"

namespace weir::replay {
namespace {

std::shared_ptr<const config::Config> flip_config(const std::string& policies,
                                                  std::string_view secret = "a",
                                                  std::string_view more = "") {
  return config::load_text(
             "listen: [{address: \"127.0.0.1:1\"}]\nidentity_secret: " + std::string(secret) +
                 "23456789012345678901234567890123\n" + std::string(more) +
                 "identities: {client: {client_address: {}}, agent: {header: user-agent}}\n"
                 "policies: " +
                 policies +
                 "\nroutes:\n"
                 "  - {match: {path: /a}, respond: {status: 200}, limits: [{policy: p, key: "
                 "client}]}\n"
                 "  - {match: {path: /b}, respond: {status: 200}, limits: [{policy: q, key: "
                 "agent}]}\n",
             {.variable = [](const std::string&) { return std::nullopt; }, .directory = {}})
      .value();
}

void flip_request(Run& run, const char* client, const char* path) {
  Arrival arrival;
  fill(arrival,
       {.at = Instant{std::chrono::seconds(1'700'000'000)},
        .client = IpAddress::parse(client),
        .method = "GET",
        .target = path,
        .user_agent = "x"},
       "localhost");
  run.receive(arrival);
}

Report compared(const std::shared_ptr<const config::Config>& first,
                const std::shared_ptr<const config::Config>& other) {
  const SharedSecret shared(first->limiter, other->limiter);
  const offline::Comparison::Configuration second{.proxy = other->proxy, .limits = shared.limits};
  Run run(first->proxy, first->limiter, {}, {.other = &second});
  for (int i = 0; i < 5; ++i)
    flip_request(run, "192.0.2.1", "/a");
  flip_request(run, "192.0.2.2", "/a");
  for (int i = 0; i < 4; ++i)
    flip_request(run, "192.0.2.1", "/b");
  run.finish();
  return run.report(10);
}

const std::string strict_p = "{p: {algorithm: gcra, rate: 2/1h}, q: {algorithm: gcra, rate: 4/1h}}";
const std::string strict_q = "{p: {algorithm: gcra, rate: 4/1h}, q: {algorithm: gcra, rate: 1/1h}}";

}  // namespace

TEST_CASE("decisions flip in both directions, with the keys that are most affected") {
  const Report report = compared(flip_config(strict_p), flip_config(strict_q));
  const FlipReport& flips = *report.flips;
  CHECK(flips.counts.decisions == 10);
  CHECK(flips.counts.flips == 5);
  CHECK((flips.counts.to_denied == 3 && flips.counts.to_admitted == 2));
  REQUIRE((flips.denied.size() == 1 && flips.admitted.size() == 1));
  CHECK((flips.denied[0].policy == "q" && flips.denied[0].identity == "agent"));
  CHECK((flips.denied[0].flips == 3 && !flips.denied[0].address));
  CHECK((flips.admitted[0].policy == "p" && flips.admitted[0].flips == 2));
  CHECK(flips.admitted[0].address == "192.0.2.1");
  CHECK(flips.admitted[0].hash == report.keys[0].hash);
}

TEST_CASE("a configuration does not flip its own decisions, and both directions mirror") {
  CHECK(compared(flip_config(strict_p), flip_config(strict_p)).flips->counts.flips == 0);
  const auto counts = compared(flip_config(strict_q), flip_config(strict_p)).flips->counts;
  CHECK((counts.to_denied == 2 && counts.to_admitted == 3));
}

TEST_CASE("identities are hashed with the secret of the first configuration") {
  const auto first = flip_config(strict_q);
  const auto other = flip_config(strict_p, "b");
  CHECK(SharedSecret(first->limiter, other->limiter).secret_differs);
  CHECK_FALSE(SharedSecret(first->limiter, first->limiter).secret_differs);
  const Report same = compared(first, flip_config(strict_p));
  const Report report = compared(first, other);
  REQUIRE(report.flips->denied.size() == 1);
  CHECK(report.flips->denied[0].hash == same.flips->denied[0].hash);
  CHECK(report.flips->denied[0].address == "192.0.2.1");
}

TEST_CASE("a file of plans keeps the secret that has made its hashes") {
  limiter::Options first, other;
  other.identity_key.k0 = 1;
  other.plans.sources.push_back({limiter::PlanFromFile{}});
  const SharedSecret shared(first, other);
  CHECK((shared.secret_differs && shared.has_two_hashes));
  CHECK(shared.limits.identity_key == other.identity_key);
  other.identity_key = first.identity_key;
  CHECK_FALSE(SharedSecret(first, other).has_two_hashes);
}

}  // namespace weir::replay
