// The metrics of each policy: decisions, holds and requests that wait.
#pragma once

#include "admin/exposition.hpp"
#include "admin/instruments.hpp"

namespace weir::admin {

void write_policies(Exposition& out, const Instruments& in);

}  // namespace weir::admin
