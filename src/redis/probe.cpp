#include "redis/probe.hpp"

#include <bit>

namespace weir::redis {
namespace {

/// High enough that no probe is denied: a denial would write nothing.
constexpr rules::Rate rate{.count = 10'000, .per = std::chrono::seconds(1)};

}  // namespace

Probe::Probe(const std::vector<AlgorithmSet>& sets, std::uint32_t policy_id)
    : policy_id_(policy_id) {
  use(sets);
}

void Probe::use(const std::vector<AlgorithmSet>& sets) {
  if (sets.empty()) return;
  const auto algorithm = static_cast<rules::Algorithm>(std::countr_zero(sets.front()));
  rules::Definition definition{.algorithm = algorithm};
  if (algorithm == rules::Algorithm::concurrency) {
    definition.limit = rate.count;
  } else {
    definition.rates = {rate};
  }
  policy_ = rules::compile(definition).value();
  claim_ = {.policy = &*policy_,
            .identity = {},
            .policy_id = policy_id_,
            .shadow = false,
            .demand = {.cost = 1},
            .attributes = {}};
  acquisition_.claims = {&claim_, 1};
  acquisition_.decisions = {&decision_, 1};
}

}  // namespace weir::redis
