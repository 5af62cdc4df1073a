// One entry of `identities`.
#pragma once

#include <string>

#include "identity/identity.hpp"

namespace weir::identity {

struct Definition {
  std::string name;
  Source source;
};

}  // namespace weir::identity
