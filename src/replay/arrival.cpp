#include "replay/arrival.hpp"

#include <algorithm>

#include "http/characters.hpp"

namespace weir::replay {
namespace {

/// Bytes that would end a target, a field or the head; logs unescape them.
bool ends_a_line(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

void append_field(std::string& head, std::string_view name, std::string_view value) {
  if (value.empty() || std::ranges::any_of(value, ends_a_line)) return;
  head.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

void fill(Arrival& arrival, const LoggedRequest& logged, std::string_view host) {
  arrival.at = logged.decided_at.value_or(logged.at);
  arrival.peer = logged.client.value_or(IpAddress());
  arrival.status = logged.status;
  arrival.ends_at.reset();
  if (logged.duration) arrival.ends_at = std::max(arrival.at, logged.at + *logged.duration);
  std::string& head = arrival.head;
  head.clear();
  const auto ends_target = [](char c) { return ends_a_line(c) || c == ' '; };
  if (!http::is_token(logged.method) || logged.target.empty() ||
      std::ranges::any_of(logged.target, ends_target))
    return;
  head.append(logged.method).append(" ").append(logged.target).append(" HTTP/1.1\r\n");
  append_field(head, "Host", logged.host.empty() ? host : logged.host);
  append_field(head, "User-Agent", logged.user_agent);
  append_field(head, "Referer", logged.referer);
  for (const LoggedField& field : logged.fields)
    append_field(head, field.name, field.value);
  head += "\r\n";
}

}  // namespace weir::replay
