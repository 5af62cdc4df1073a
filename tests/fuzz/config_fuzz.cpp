// Any text is either a configuration or a list of problems with a message, each printed on one
// line.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/load.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_line(const weir::config::Diagnostic& diagnostic) {
  require(!diagnostic.message.empty());
  require(diagnostic.line >= 0 && diagnostic.column >= 0);
  for (const char c : diagnostic.to_string())
    require(static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // No path of the input is opened: `file:` secrets would read files of the machine.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find("file:") != std::string_view::npos) return 0;

  const auto variable = [](const std::string& name) -> std::optional<std::string> {
    if (name == "A") return "value\n{";
    return std::nullopt;
  };
  const weir::config::Environment environment{.variable = variable, .directory = "/", .cores = 2};
  const weir::config::Loaded loaded = weir::config::load_text(text, environment);
  if (!loaded) {
    require(!loaded.error().empty());
    for (const auto& problem : loaded.error())
      check_line(problem);
    return 0;
  }
  const weir::config::Config& config = **loaded;
  require(!config.proxy.routes.empty() && !config.listen.empty() && config.workers > 0);
  for (const auto& warning : config.presentation.warnings)
    check_line(warning);
  for (const auto& route : config.proxy.routes) {
    require(!route.name.empty());
    require(!route.upstream || *route.upstream < config.upstreams.size());
    for (const auto& limit : route.limits) {
      require(limit.policy < config.limiter.policies.size() &&
              limit.identity < config.limiter.identities.size());
      require(!limit.otherwise || *limit.otherwise < config.limiter.identities.size());
      require(config.limiter.policies[limit.policy].numbers.capacity > 0);
    }
  }
  return 0;
}
