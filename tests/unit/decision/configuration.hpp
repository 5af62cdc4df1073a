// A configuration without a file.
#pragma once

#include "limiter/options.hpp"
#include "options/proxy.hpp"

namespace weir::decision::test {

struct Configuration {
  limiter::Options limiter;
  options::Proxy proxy;
};

}  // namespace weir::decision::test
