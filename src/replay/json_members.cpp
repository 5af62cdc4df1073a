#include "replay/json_members.hpp"

#include <string>
#include <utility>

#include "base/text.hpp"
#include "http/characters.hpp"

namespace weir::replay {
namespace {

constexpr std::string_view header_prefix = "header:";

JsonMembers no_members() {
  return {.time = "",
          .client = "",
          .method = "",
          .target = "",
          .request = "",
          .status = "",
          .referer = "",
          .user_agent = "",
          .duration_us = "",
          .decided_at = "",
          .is_own = false};
}

/// nullptr: there is no such part.
std::string* part_of(JsonMembers& members, std::string_view name) {
  const std::pair<std::string_view, std::string*> parts[] = {{"time", &members.time},
                                                             {"client", &members.client},
                                                             {"method", &members.method},
                                                             {"target", &members.target},
                                                             {"request", &members.request},
                                                             {"status", &members.status},
                                                             {"host", &members.host},
                                                             {"user_agent", &members.user_agent},
                                                             {"referer", &members.referer},
                                                             {"duration", &members.duration},
                                                             {"duration_ms", &members.duration_ms},
                                                             {"duration_us", &members.duration_us}};
  for (const auto& [part, path] : parts) {
    if (part == name) return path;
  }
  return nullptr;
}

}  // namespace

Result<JsonMembers> read_members(std::string_view text) {
  JsonMembers members = no_members();
  while (!text.empty()) {
    std::string_view path = take_until(text, ',');
    const auto name = take_before(path, '=');
    if (!name || path.empty())
      return Problem{"expected NAME=MEMBER, such as time=ts,client=request.remote_ip"};
    if (name->starts_with(header_prefix)) {
      const std::string_view field = name->substr(header_prefix.size());
      if (!http::is_token(field))
        return Problem{
            "expected the name of a header field after header:, such as header:x-api-key"};
      members.fields.emplace_back(field, path);
    } else if (std::string* const part = part_of(members, *name)) {
      *part = path;
    } else {
      return Problem{
          "unknown part \"" + std::string(*name) +
          "\"; the parts are time, client, method, target, request, status, host, user_agent, "
          "referer, duration, duration_ms, duration_us and header:NAME"};
    }
  }
  const auto needs = [](std::string_view part) {
    return Problem{"it needs " + std::string(part) + "=MEMBER"};
  };
  if (members.time.empty()) return needs("time");
  if (!members.request.empty()) return members;
  if (members.method.empty() && members.target.empty())
    return needs("request=MEMBER, or method=MEMBER and target");
  if (members.method.empty()) return needs("method");
  if (members.target.empty()) return needs("target");
  return members;
}

}  // namespace weir::replay
