// The members of several JSON objects as those of one, without making it. Private to this room.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "json/read.hpp"
#include "limiter/policy.hpp"

namespace weir::rls {

/// At most limiter::limits_per_route. Views values that are not owned.
using MergedObjects = std::span<const json::Value* const>;

/// Calls `visit(member, objects)` for each name of a member, in the order of the first member with
/// it. That one counts; `objects` are its value and those of the later members with the name, if
/// they are objects, and empty if the first is not.
template <class Visit>
void each_merged_member(MergedObjects all, Visit visit) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const json::Member& member : all[i]->members) {
      const auto has_name = [&](const json::Value* earlier) {
        return earlier->find(member.name) != nullptr;
      };
      if (std::ranges::any_of(all.first(i), has_name)) continue;
      std::array<const json::Value*, limiter::limits_per_route> objects{};
      std::size_t count = 0;
      const auto add = [&](const json::Value* value) {
        if (value != nullptr && value->kind == json::Kind::object) objects[count++] = value;
      };
      add(&member.value);
      for (const json::Value* later : all.subspan(count == 0 ? all.size() : i + 1))
        add(later->find(member.name));
      visit(member, MergedObjects(objects.data(), count));
    }
  }
}

}  // namespace weir::rls
