// The metrics of the store, in memory or shared, and of the nodes of Redis.
#pragma once

#include "admin/exposition.hpp"
#include "admin/instruments.hpp"

namespace weir::admin {

void write_store(Exposition& out, const Instruments& in);

}  // namespace weir::admin
