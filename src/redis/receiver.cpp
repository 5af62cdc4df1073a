#include "redis/receiver.hpp"

namespace weir::redis {

std::string_view remedy(StoreError error) {
  switch (error) {
    case StoreError::none:
    case StoreError::not_connected:
    case StoreError::timeout:
    case StoreError::connection_lost:
      return {};
    case StoreError::loading:
      return "it starts, or is busy with a script or a failover, and decides when that is over";
    case StoreError::read_only:
      return "the server is a replica: let store.redis.url lead to the master";
    case StoreError::out_of_memory:
      return "raise maxmemory, or choose a maxmemory-policy that evicts";
    case StoreError::refused:
      return "give the user of store.redis.url all rights that docs/redis.md lists";
    case StoreError::script_missing:
    case StoreError::other:
      break;
  }
  return "besides, it must know all commands that docs/redis.md lists, each by its own name";
}

}  // namespace weir::redis
