#include "load_settings.hpp"

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weir::bench {

namespace {

constexpr std::string_view usage =
    "usage: bench_load port=N upstream_port=N [seconds=N] [connections=N] [keys=N] [routes=N] "
    "[first=N] [mode=keep|close|tunnel] [tokens=FILE] [tls=0|1]";

[[noreturn]] void reject(std::string_view argument) {
  throw std::runtime_error("unexpected argument " + std::string(argument) + "; " +
                           std::string(usage));
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  return std::from_chars(text.data(), end, number).ptr == end && !text.empty();
}

bool read_mode(std::string_view text, Mode& mode) {
  if (text == "keep")
    mode = Mode::keep;
  else if (text == "close")
    mode = Mode::close;
  else if (text == "tunnel")
    mode = Mode::tunnel;
  else
    return false;
  return true;
}

bool read_seconds(std::string_view text, std::chrono::seconds& time) {
  unsigned count = 0;
  if (!read(text, count)) return false;
  time = std::chrono::seconds(count);
  return true;
}

bool read_flag(std::string_view text, bool& flag) {
  flag = text == "1";
  return flag || text == "0";
}

bool set(Settings& settings, std::string_view name, std::string_view value) {
  if (name == "port") return read(value, settings.port);
  if (name == "upstream_port") return read(value, settings.upstream_port);
  if (name == "seconds") return read_seconds(value, settings.time);
  if (name == "connections") return read(value, settings.connections);
  if (name == "keys") return read(value, settings.keys) && settings.keys > 0;
  if (name == "routes") return read(value, settings.routes);
  if (name == "first") return read(value, settings.first);
  if (name == "mode") return read_mode(value, settings.mode);
  if (name == "tokens") {
    settings.tokens = value;
    return true;
  }
  if (name == "tls") return read_flag(value, settings.tls);
  return false;
}

}  // namespace

Settings settings_of(std::span<char* const> arguments) {
  Settings settings;
  for (const std::string_view argument : arguments) {
    const auto equals = argument.find('=');
    if (equals == std::string_view::npos ||
        !set(settings, argument.substr(0, equals), argument.substr(equals + 1)))
      reject(argument);
  }
  if (settings.port == 0 || settings.upstream_port == 0)
    throw std::runtime_error(std::string(usage));
  return settings;
}

}  // namespace weir::bench
