// docs/configuration.md shows a bad file and its problems: both are read from there and compared.
// The examples of docs/identity.md are whole files: each loads without a warning.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "unit/config/loading.hpp"

namespace weir::config {
namespace {

std::string read_documentation(const std::string& name) {
  std::ostringstream content;
  content << std::ifstream(WEIR_SOURCE_DIR "/docs/" + name).rdbuf();
  return content.str();
}

/// The fenced blocks of YAML.
std::vector<std::string> examples_in(const std::string& text) {
  const std::string fence = "```yaml\n";
  std::vector<std::string> examples;
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    examples.push_back(text.substr(at, text.find("```", at) - at));
  }
  return examples;
}

/// The fenced block that follows `intro`.
std::string block_after(const std::string& text, const std::string& intro) {
  const std::size_t fence = text.find("```", text.find(intro));
  const std::size_t begin = text.find('\n', fence) + 1;
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST_CASE("the documented problems are the ones the documented file has") {
  const std::string text = read_documentation("configuration.md");
  const std::string yaml = block_after(text, "how to fix it. This file");
  REQUIRE(yaml.starts_with("listen:"));
  std::istringstream problems(test::problems_of(yaml));
  std::string shown;
  for (std::string line; std::getline(problems, line);) {
    shown += "weir.yaml:" + line + "\n";
  }
  CHECK(block_after(text, "is answered with") == shown);
}

TEST_CASE("every example of docs/identity.md loads without a warning") {
  const auto examples = examples_in(read_documentation("identity.md"));
  CHECK(examples.size() >= 5);
  for (const std::string& example : examples) {
    CAPTURE(example);
    CHECK(test::problems_of(example) == "");
    if (const Loaded loaded = load_text(example, test::environment())) {
      for (const Diagnostic& warning : (*loaded)->warnings)
        FAIL_CHECK(warning.to_string());
    }
  }
}

}  // namespace
}  // namespace weir::config
