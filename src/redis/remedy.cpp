#include "redis/remedy.hpp"

namespace weir::redis {

std::string_view remedy(store::Error error) {
  using store::Error;
  switch (error) {
    case Error::none:
    case Error::not_connected:
    case Error::timeout:
    case Error::connection_lost:
      return {};
    case Error::loading:
      return "Redis is loading, busy or failing over; no action needed";
    case Error::read_only:
      return "the server is a replica; set store.redis.url to the primary";
    case Error::out_of_memory:
      return "raise maxmemory, or set a maxmemory-policy that evicts keys";
    case Error::refused:
      return "grant the user of store.redis.url all permissions listed in docs/redis.md";
    case Error::script_missing:
    case Error::other:
      break;
  }
  return "the server must have every command listed in docs/redis.md, under its own name";
}

}  // namespace weir::redis
