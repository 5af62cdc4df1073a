// The progress of a handshake: which commands to send, and whether each reply is the expected one.
//
// Pure: replies go in, the outcome comes out. May be repeated, once for each connection. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/redis.hpp"
#include "redis/handshake_commands.hpp"
#include "redis/script_set.hpp"
#include "store/error.hpp"

namespace weir::redis {

/// One reply to a command of the handshake.
struct HandshakeReply {
  enum class Kind : std::uint8_t { status, string, error, array, other } kind;
  std::string_view text;  ///< of an array, that of its first element; empty for `other`
};

class Handshake {
 public:
  using Commands = std::span<const HandshakeCommand>;

  struct Outcome {
    enum class Kind : std::uint8_t {
      pending,       ///< more replies are expected
      send_scripts,  ///< everything before the scripts has succeeded: send `commands`
      complete,
      failed,
    } kind = Kind::pending;
    Commands commands = {};  ///< valid until the next call
    /// Why it failed: `AUTH: WRONGPASS invalid password`. Never contains the password.
    std::string failure = {};
    store::Error error = store::Error::none;  ///< the kind of a failure
  };

  /// All of them must outlive this. `shas` receives the SHAs of `scripts`.
  Handshake(const options::Redis& options, const std::vector<std::string>& scripts,
            ScriptShas& shas)
      : options_(options), scripts_(scripts), shas_(shas) {}

  /// Starts a handshake. Returns the commands to send first: all but the scripts, because Redis
  /// limits the query size of unauthenticated clients. Valid until the next call.
  Commands begin();
  /// The reply to the first command without one.
  Outcome on_reply(const HandshakeReply& reply);
  /// Discards the commands, which contain the password.
  void end() { commands_.clear(); }

  /// The error reply to a step that the server may refuse, as Outcome::failure; empty if none.
  const std::string& optional_error() const { return optional_error_; }

 private:
  Commands send_up_to(std::size_t end);

  const options::Redis& options_;
  const std::vector<std::string>& scripts_;
  ScriptShas& shas_;
  std::vector<HandshakeCommand> commands_;  ///< only during a handshake
  std::size_t sent_ = 0;
  std::size_t answered_ = 0;
  std::size_t scripts_loaded_ = 0;
  std::string optional_error_;
};

}  // namespace weir::redis
