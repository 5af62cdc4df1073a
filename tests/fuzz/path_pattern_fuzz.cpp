// Path patterns: one line is a pattern, the rest a path. An accepted pattern matches its own text,
// and captures lie within the path.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "routing/path_pattern.hpp"

namespace {

constexpr weir::routing::PathVariants no_variants{.letter_case = false,
                                                  .trailing_slash = false,
                                                  .repeated_slashes = false,
                                                  .dot_segments = false,
                                                  .parameters = false,
                                                  .encoded_delimiters = false};

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::routing;
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  const auto newline = std::min(input.find('\n'), input.size());
  const std::string_view text = input.substr(0, newline);
  const std::string path{input.substr(std::min(newline + 1, input.size()))};

  const auto pattern = PathPattern::parse(text);
  if (!pattern) {
    require(!pattern.error().message.empty());
    return 0;
  }
  require(pattern->text() == text && pattern->parameters().size() <= path_parameter_limit);
  std::array<std::string_view, path_parameter_limit> captures;
  // Wildcards match any segment, also one that looks like a wildcard. A path with many differences
  // is refused where all of them are ignored, and accepted where none is.
  PathReadings own;
  if (!own.read(text, {})) require(pattern->matches(own.all().front(), captures.data()));
  require(!own.read(text, {.variants = no_variants}) &&
          pattern->matches(own.all().front(), captures.data()));
  if (!pattern->matches({.text = path}, captures.data())) return 0;
  for (std::size_t i = 0; i < pattern->parameters().size(); ++i) {
    const std::string_view found = captures[i];
    require(!found.empty() && found.find('/') == std::string_view::npos);
    require(found.data() > path.data() && found.data() + found.size() <= path.data() + path.size());
  }
  return 0;
}
