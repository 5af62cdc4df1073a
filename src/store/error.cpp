#include "store/error.hpp"

namespace weir::store {

std::string_view to_string(Error error) {
  switch (error) {
    case Error::none:
      return "none";
    case Error::not_connected:
      return "not_connected";
    case Error::timeout:
      return "timeout";
    case Error::connection_lost:
      return "connection_lost";
    case Error::overloaded:
      return "overloaded";
    case Error::loading:
      return "loading";
    case Error::read_only:
      return "read_only";
    case Error::out_of_memory:
      return "out_of_memory";
    case Error::refused:
      return "refused";
    case Error::script_missing:
      return "script_missing";
    case Error::redirected:
      return "redirected";
    case Error::other:
      break;
  }
  return "other";
}

}  // namespace weir::store
