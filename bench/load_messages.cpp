#include "load_messages.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace weir::bench {

namespace {

constexpr std::string_view blank_line = "\r\n\r\n";

std::string_view connection_fields(Mode mode) {
  switch (mode) {
    case Mode::keep:
      return "";
    case Mode::close:
      return "Connection: close\r\n";
    case Mode::tunnel:
      return "Connection: upgrade\r\nUpgrade: echo\r\n";
  }
  return "";
}

std::string path(const Settings& settings, std::size_t number) {
  if (settings.routes == 0) return "/bench";
  return "/route" + std::to_string(number % settings.routes) + "/bench";
}

/// The lines of a file.
std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

}  // namespace

std::vector<std::string> requests_for(const Settings& settings) {
  std::vector<std::string> requests;
  const std::vector<std::string> tokens = lines_of(settings.tokens);
  if (!settings.tokens.empty() && tokens.size() < settings.keys)
    throw std::runtime_error("fewer tokens than keys in " + settings.tokens);
  for (std::size_t number = 0; number < std::max(settings.keys, settings.routes); ++number) {
    std::array<char, 32> key{};
    std::snprintf(key.data(), key.size(), "key-%06zu", number % settings.keys);
    requests.push_back("GET " + path(settings, number) +
                       " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(settings.port) + "\r\n" +
                       (tokens.empty()
                            ? std::string("X-API-Key: ") + key.data()
                            : "Authorization: Bearer " + tokens[number % settings.keys]) +
                       "\r\n" + std::string(connection_fields(settings.mode)) + "\r\n");
  }
  return requests;
}

std::string response() {
  return "HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Fri, 01 Jan 2027 00:00:00 GMT\r\n"
         "Content-Type: text/plain\r\nContent-Length: 100\r\nConnection: keep-alive\r\n\r\n" +
         std::string(100, 'x');
}

std::size_t head_size(std::string_view data) {
  const auto end = data.find(blank_line);
  return end == std::string_view::npos ? 0 : end + blank_line.size();
}

std::size_t response_size(std::string_view data) {
  const std::size_t head = head_size(data);
  if (head == 0) return 0;
  constexpr std::string_view name = "\r\nContent-Length: ";
  auto at = data.substr(0, head).find(name);
  if (at == std::string_view::npos)
    at = data.substr(0, head).find("\r\ncontent-length: ");  // as HAProxy writes it
  if (at == std::string_view::npos) throw std::runtime_error("a response without Content-Length");
  std::size_t length = 0;
  std::from_chars(data.data() + at + name.size(), data.data() + head, length);
  return data.size() < head + length ? 0 : head + length;
}

std::string_view status_of(std::string_view response) {
  return response.size() < 12 ? std::string_view{} : response.substr(9, 3);
}

bool is_upgrade(std::string_view request_head) {
  return request_head.find("\r\nUpgrade: ") != std::string_view::npos ||
         request_head.find("\r\nupgrade: ") != std::string_view::npos;
}

}  // namespace weir::bench
