#include "cli/yaml_text.hpp"

#include "json/write.hpp"

namespace weir::cli {

std::string yaml_text(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("${")) escaped += '$';
    escaped += text[i];
  }
  std::string quoted;
  json::append_string(quoted, escaped);
  return quoted;
}

}  // namespace weir::cli
