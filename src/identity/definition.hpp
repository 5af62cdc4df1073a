// One entry of `identities`.
#pragma once

#include <string>

#include "identity/identity.hpp"

namespace weir::identity {

struct Definition {
  std::string name;
  Source source;
  friend bool operator==(const Definition&, const Definition&) = default;
};

}  // namespace weir::identity
