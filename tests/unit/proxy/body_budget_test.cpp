#include "proxy/body_budget.hpp"

#include <optional>

#include "catch.hpp"

namespace weir::proxy {
namespace {

TEST_CASE("Shares of a budget are together within its bound") {
  BodyBudget budget(100);
  std::optional<BodyBudget::Share> first(std::in_place, budget);
  BodyBudget::Share second(budget);
  CHECK(first->set(60));
  CHECK(second.set(40));
  CHECK_FALSE(second.set(41));
  CHECK(budget.used() == 100);  // as before the refusal
  CHECK(first->set(50));
  CHECK(second.set(50));
  CHECK(second.set(0));
  CHECK(budget.used() == 50);
  CHECK_FALSE(second.set(static_cast<std::size_t>(-1)));
  first.reset();
  CHECK(budget.used() == 0);
  CHECK(second.set(100));
}

}  // namespace
}  // namespace weir::proxy
