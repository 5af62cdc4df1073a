#include "store/override.hpp"

#include "catch.hpp"
#include "contract/store_under_test.hpp"

namespace weir::store::test {

using Kind = Override::Kind;
using rules::OverrideEffect;

namespace {

constexpr std::uint32_t own = 3;
const rules::Policy static_policy = policy(rules::Algorithm::gcra, 2, 2s);
const rules::Policy raised = policy(rules::Algorithm::gcra, 9, 2s);

Override for_own(Kind kind, std::optional<Instant> until = {}) {
  return {.kind = kind, .policy = "own", .policy_id = own, .numbers = raised, .until = until};
}
Override for_all(Kind kind, std::optional<Instant> until = {}) {
  return {.kind = kind, .until = until};
}

}  // namespace

TEST_CASE("A denial goes before all others, then an override of the policy") {
  struct Row {
    std::vector<Override> overrides;
    OverrideEffect effect;
    std::optional<Duration> ends_after{};
  };
  const Instant soon = epoch + 5s;
  for (const auto& row : std::vector<Row>{
           {{}, OverrideEffect::none},
           {{for_own(Kind::numbers)}, OverrideEffect::numbers},
           {{for_all(Kind::unlimited)}, OverrideEffect::unlimited},
           {{for_all(Kind::unlimited), for_own(Kind::numbers, soon)}, OverrideEffect::numbers, 5s},
           {{for_all(Kind::denied), for_own(Kind::unlimited)}, OverrideEffect::denied},
           {{for_all(Kind::unlimited), for_own(Kind::denied, soon)}, OverrideEffect::denied, 5s},
           // The longer one of two denials counts.
           {{for_all(Kind::denied), for_own(Kind::denied, soon)}, OverrideEffect::denied},
           {{for_all(Kind::denied, epoch + 1s), for_own(Kind::denied, soon)},
            OverrideEffect::denied,
            5s},
           // One that has ended does not count.
           {{for_own(Kind::denied, epoch)}, OverrideEffect::none},
           {{for_own(Kind::denied, epoch), for_all(Kind::unlimited)}, OverrideEffect::unlimited}}) {
    const OverrideInForce found = in_force(row.overrides, own, static_policy, epoch);
    CHECK(found.effect == row.effect);
    CHECK(found.ends_after == row.ends_after);
    CHECK((found.numbers != nullptr) == (row.effect == OverrideEffect::numbers));
  }
  const std::vector other{for_own(Kind::denied)};
  CHECK(in_force(other, own + 1, static_policy, epoch).effect == OverrideEffect::none);
}

TEST_CASE("Numbers for a policy that has changed its algorithm are malformed") {
  const std::vector overrides{for_own(Kind::numbers)};
  for (const auto& changed : {policy(rules::Algorithm::token_bucket, 2, 2s),
                              policy(rules::Algorithm::fixed_window, 2, 2s)})
    CHECK(in_force(overrides, own, changed, epoch).effect == OverrideEffect::malformed);
}

}  // namespace weir::store::test
