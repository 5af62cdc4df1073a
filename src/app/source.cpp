#include "app/source.hpp"

#include <utility>

#include "tls/digest.hpp"

namespace weir::app {
namespace {

using LoadResult = Result<LoadedConfig, std::vector<config::Diagnostic>>;

LoadResult load_text(const std::string& yaml, config::Environment environment,
                     const config::Config* running) {
  environment.running = running;
  const config::Loaded loaded = config::load_text(yaml, environment);
  if (!loaded) return loaded.error();
  return LoadedConfig{.config = *loaded, .hash = tls::sha256_hex(yaml)};
}

}  // namespace

Source file_source(const std::string& file) {
  return {.name = file,
          .load = [file](config::Patience patience, const config::Config* running) -> LoadResult {
            const auto text = config::read_text(file, patience);
            if (!text) return text.error();
            return load_text(*text, config::process_environment(file), running);
          }};
}

Source text_source(std::string name, std::string yaml) {
  return {.name = std::move(name),
          .load = [yaml = std::move(yaml)](config::Patience, const config::Config* running)
              -> LoadResult { return load_text(yaml, config::process_environment("."), running); }};
}

}  // namespace weir::app
