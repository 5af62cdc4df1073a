#include "config/plan_source.hpp"

#include <variant>

#include "config/key_path.hpp"

namespace weir::config {

std::string shown_plan_source(const Config& config, std::size_t index) {
  const limiter::PlanSource& source = config.plans.sources[index];
  const std::string path = item_path("plan_from", index);
  if (const auto* const header = std::get_if<limiter::PlanFromHeader>(&source.from))
    return "header " + config.written.shown(key_path(path, "header"), header->name);
  if (const auto* const claim = std::get_if<limiter::PlanFromClaim>(&source.from))
    return identity::describe(config.written.shown(path, claim->source));
  return limiter::describe(source);
}

}  // namespace weir::config
