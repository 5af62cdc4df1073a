#include "proxy/exchange.hpp"

#include <utility>

namespace weir::proxy {

void Exchange::reset() {
  // Only what keeps its room is carried over; everything else is as new.
  Exchange fresh;
  fresh.fields = std::move(fields);
  fresh.target_storage = std::move(target_storage);
  fresh.limit_fields = std::move(limit_fields);
  fresh.violated = std::move(violated);
  *this = std::move(fresh);
  fields.clear();
  limit_fields.clear();
  violated.clear();
}

}  // namespace weir::proxy
