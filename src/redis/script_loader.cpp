#include "redis/script_loader.hpp"

#include <hiredis/hiredis.h>
#include <new>

#include "redis/error_reply.hpp"
#include "redis/handshake_commands.hpp"

namespace weir::redis {

void ScriptLoader::load(std::size_t script) {
  while (loads_.size() <= script)
    loads_.emplace_back(*this, loads_.size());
  Load& load = loads_[script];
  if (load.is_in_flight) return;
  load.is_in_flight = connection_.send(load_command(scripts_.texts()[script]), load);
}

void ScriptLoader::on_loaded(Load& load, const redisReply& reply) noexcept {
  load.is_in_flight = false;
  load.has_failed = reply.type == REDIS_REPLY_ERROR;
  if (reply.type != REDIS_REPLY_STRING || !is_sha(text_of(reply))) return;
  try {
    shas_.set(load.script, text_of(reply));
  } catch (const std::bad_alloc&) {
    // The next command that needs the script loads it again.
  }
}

}  // namespace weir::redis
