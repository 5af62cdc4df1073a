// docs/configuration.md shows a bad file and its problems: both are read from there and compared.
#include <fstream>
#include <sstream>

#include "catch.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

std::string read_documentation() {
  std::ostringstream content;
  content << std::ifstream(WEIR_SOURCE_DIR "/docs/configuration.md").rdbuf();
  return content.str();
}

/// The fenced block that follows `intro`.
std::string block_after(const std::string& text, const std::string& intro) {
  const std::size_t fence = text.find("```", text.find(intro));
  const std::size_t begin = text.find('\n', fence) + 1;
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST_CASE("the documented problems are the ones the documented file has") {
  const std::string text = read_documentation();
  const std::string yaml = block_after(text, "how to fix it. This file");
  REQUIRE(yaml.starts_with("listen:"));
  std::istringstream problems(test::problems_of(yaml));
  std::string shown;
  for (std::string line; std::getline(problems, line);) {
    shown += "weir.yaml:" + line + "\n";
  }
  CHECK(block_after(text, "is answered with") == shown);
}

}  // namespace
}  // namespace weir::config
