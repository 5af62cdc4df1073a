// Names scripts in commands, and loads them over a ready connection: those that the server has lost
// since the handshake, and those that a reload added. Each is loaded once at a time. Used on the
// loop only.
#pragma once

#include <cstddef>
#include <deque>
#include <string_view>

#include "redis/connection.hpp"
#include "redis/question_command.hpp"
#include "redis/script_set.hpp"

namespace weir::redis {

class ScriptLoader {
 public:
  /// The constructor uses none of them.
  ScriptLoader(Connection& connection, const ScriptSet& scripts, ScriptShas& shas)
      : connection_(connection), scripts_(scripts), shas_(shas) {}
  ScriptLoader(const ScriptLoader&) = delete;
  ScriptLoader& operator=(const ScriptLoader&) = delete;

  /// The script with this index in the set, for a command that is sent now: by its SHA, or, until
  /// the SHA is known, by its text. In the second case also loads it, for later commands.
  ScriptName name_of(std::size_t script) {
    const std::string_view sha = shas_.sha(script);
    if (!sha.empty()) return {ScriptName::By::sha, sha};
    load(script);
    return {ScriptName::By::text, scripts_.texts()[script]};
  }
  /// The SHA of a script; empty until Redis has loaded it, which this starts. A script that Redis
  /// has refused to load is not sent again.
  std::string_view loaded(std::size_t script) {
    const std::string_view sha = shas_.sha(script);
    if (sha.empty() && !(script < loads_.size() && loads_[script].has_failed)) load(script);
    return sha;
  }
  /// Sends SCRIPT LOAD for the script with this index in the set. When it has succeeded, `shas`
  /// has the script's SHA.
  void load(std::size_t script);

 private:
  struct Load final : Recipient {
    Load(ScriptLoader& its_loader, std::size_t its_script)
        : loader(its_loader), script(its_script) {}
    void on_reply(const redisReply& reply) noexcept override { loader.on_loaded(*this, reply); }
    void on_loss(store::Error, std::string_view) noexcept override { is_in_flight = false; }

    ScriptLoader& loader;
    std::size_t script;
    bool is_in_flight = false;
    bool has_failed = false;  ///< Redis has returned an error
  };
  void on_loaded(Load& load, const redisReply& reply) noexcept;

  Connection& connection_;
  const ScriptSet& scripts_;
  ScriptShas& shas_;
  std::deque<Load> loads_;  ///< by index of the script
};

}  // namespace weir::redis
