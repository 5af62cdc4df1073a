#include "redis/error_reply.hpp"

#include <algorithm>
#include <array>
#include <hiredis/hiredis.h>

namespace weir::redis {
namespace {

struct Meaning {
  std::string_view beginning;
  store::Error error;
};

// If the user may run the script but not a command in it: Redis 7.0 src/script.c, and Redis 7.2 and
// Valkey.
constexpr std::string_view acl_within_script = "ERR The user executing the script can't";
constexpr std::string_view acl_failure_in_script = "ERR ACL failure in script:";

// Codes of Redis 7.0 src/server.c createSharedObjects() and acl.c. "ERR AUTH" (since 6.0) and "ERR
// Client sent AUTH," (before) are returned by a server that has no password.
constexpr std::array meanings{
    Meaning{"NOSCRIPT", store::Error::script_missing},
    Meaning{"LOADING", store::Error::loading},
    Meaning{"MASTERDOWN", store::Error::loading},
    Meaning{"BUSY", store::Error::loading},
    Meaning{"CLUSTERDOWN", store::Error::loading},
    Meaning{"MOVED", store::Error::redirected},
    Meaning{"ASK", store::Error::redirected},
    Meaning{"TRYAGAIN", store::Error::redirected},
    Meaning{"READONLY", store::Error::read_only},
    Meaning{"OOM", store::Error::out_of_memory},
    Meaning{"NOAUTH", store::Error::refused},
    Meaning{"WRONGPASS", store::Error::refused},
    Meaning{"NOPERM", store::Error::refused},
    Meaning{acl_within_script, store::Error::refused},
    Meaning{acl_failure_in_script, store::Error::refused},
    Meaning{"ERR AUTH", store::Error::refused},
    Meaning{"ERR Client sent AUTH,", store::Error::refused},
    Meaning{"ERR invalid password", store::Error::refused},
};

constexpr std::size_t longest_text = 200;

/// Before Redis 7, and in KeyDB, an error within a script has no code of its own: `ERR Error
/// running script (call to f_...): @user_script:1: -READONLY You can't ...`
std::string_view without_script(std::string_view text) {
  constexpr std::string_view marker = ": -";
  if (!text.starts_with("ERR Error running script")) return text;
  if (text.find(acl_within_script.substr(4)) != std::string_view::npos) return acl_within_script;
  const auto at = text.rfind(marker);
  return at == std::string_view::npos ? text : text.substr(at + marker.size());
}

}  // namespace

std::string_view text_of(const redisReply& reply) {
  if (reply.str == nullptr) return {};
  return {reply.str, static_cast<std::size_t>(reply.len)};
}

store::Error error_of(std::string_view text) {
  text = without_script(text);
  for (const auto& meaning : meanings) {
    const auto rest = text.substr(std::min(meaning.beginning.size(), text.size()));
    if (text.starts_with(meaning.beginning) && (rest.empty() || rest[0] == ' '))
      return meaning.error;
  }
  return store::Error::other;
}

std::string_view unquoted(std::string_view text) {
  return text.substr(0, text.find_first_of("'\"`"));
}

std::string printable(std::string_view text, std::string_view secret) {
  if (!secret.empty() && text.find(secret) != std::string_view::npos)
    return "an error whose text quotes the password";
  std::string out(text.substr(0, longest_text));
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return out;
}

}  // namespace weir::redis
