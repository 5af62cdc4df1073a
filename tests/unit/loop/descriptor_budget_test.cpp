#include "loop/descriptor_budget.hpp"

#include <vector>

#include "catch.hpp"

namespace weir::loop {
namespace {

TEST_CASE("connections of clients and to upstreams share the descriptors") {
  std::atomic<std::size_t> downstream{0};
  DescriptorBudget budget(32, downstream);
  CHECK_FALSE(budget.is_short());
  downstream = 20;
  std::vector<DescriptorBudget::Share> shares;
  for (int i = 0; i < 9; ++i)
    shares.emplace_back(budget);
  CHECK_FALSE(budget.is_short());
  shares.emplace_back(budget);
  CHECK(budget.is_short());
  CHECK_FALSE(budget.is_spent());
  downstream = 22;
  CHECK(budget.is_spent());

  shares.pop_back();
  CHECK_FALSE(budget.is_spent());
  DescriptorBudget::Share moved = std::move(shares.back());
  shares.clear();  // the moved share still counts
  downstream = 31;
  CHECK(budget.is_spent());
  moved = DescriptorBudget::Share();
  CHECK_FALSE(budget.is_spent());
  CHECK(budget.most_downstream() == 32);
  budget.set_most(31, 24);
  CHECK(budget.is_spent());
  CHECK(budget.most_downstream() == 24);
}

}  // namespace
}  // namespace weir::loop
