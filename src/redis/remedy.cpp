#include "redis/remedy.hpp"

namespace weir::redis {

std::string_view remedy(store::Error error) {
  using store::Error;
  switch (error) {
    case Error::none:
    case Error::not_connected:
    case Error::timeout:
    case Error::connection_lost:
    case Error::overloaded:
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

std::string_view refusal_remedy(std::string_view error) {
  const bool is_permission = error.find("NOPERM") != std::string_view::npos;
  return is_permission ? remedy(store::Error::refused)
                       : "check the user and the password in store.redis.url";
}

}  // namespace weir::redis
