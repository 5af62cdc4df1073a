#include "redis/receiver.hpp"

namespace weir::redis {

std::string_view to_string(StoreError error) {
  switch (error) {
    case StoreError::none:
      return "none";
    case StoreError::not_connected:
      return "not_connected";
    case StoreError::timeout:
      return "timeout";
    case StoreError::connection_lost:
      return "connection_lost";
    case StoreError::loading:
      return "loading";
    case StoreError::read_only:
      return "read_only";
    case StoreError::out_of_memory:
      return "out_of_memory";
    case StoreError::refused:
      return "refused";
    case StoreError::script_missing:
      return "script_missing";
    case StoreError::other:
      break;
  }
  return "other";
}

}  // namespace weir::redis
