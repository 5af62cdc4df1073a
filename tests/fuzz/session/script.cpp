#include "script.hpp"

#include <algorithm>
#include <cctype>

namespace weir::fuzz {
namespace {

constexpr std::string_view separator = "\n~";
constexpr std::size_t most_steps = 24;

template <class Visit>
void for_each_part(std::string_view input, Visit&& visit) {
  for (;;) {
    const auto end = input.find(separator);
    visit(input.substr(0, end));
    if (end == std::string_view::npos) return;
    input.remove_prefix(end + separator.size());
  }
}

Setup read_setup(std::string_view letters) {
  const auto has = [letters](char c) { return letters.find(c) != std::string_view::npos; };
  return {.small_buffers = has('s'),
          .trusted_peer = has('t'),
          .proxy_protocol = has('p'),
          .low_limits = has('l'),
          .two_servers = has('o'),
          .full = has('f'),
          .no_descriptors = has('g')};
}

}  // namespace

std::size_t Step::number(std::size_t most) const {
  std::size_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > most) break;
    value = value * 10 + static_cast<std::size_t>(c - '0');
  }
  return std::min(value, most);
}

Script read_script(std::string_view input) {
  Script script;
  bool is_first = true;
  for_each_part(input, [&](std::string_view part) {
    if (is_first) {
      script.setup = read_setup(part);
    } else if (!part.empty() && script.steps.size() < most_steps) {
      const auto letter = static_cast<unsigned char>(part.front());
      script.steps.push_back({.what = static_cast<char>(std::tolower(letter)),
                              .is_alone = std::isupper(letter) == 0,
                              .text = part.substr(1)});
    }
    is_first = false;
  });
  return script;
}

std::vector<std::string> parts_of(std::string_view input) {
  std::vector<std::string> parts;
  for_each_part(input, [&](std::string_view part) { parts.emplace_back(part); });
  return parts;
}

std::string join(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& part : parts)
    all.append(all.empty() && &part == &parts.front() ? "" : separator).append(part);
  return all;
}

}  // namespace weir::fuzz
