#include "config/variable_mask.hpp"

#include <algorithm>

namespace weir::config {

namespace {

constexpr char masked_open = '\xFE';
constexpr char masked_close = '\xFF';

}  // namespace

std::string mask_references(std::string_view text) {
  std::string out(text);
  std::size_t at = 0;
  while ((at = out.find("${", at)) != std::string::npos) {
    const std::size_t close = out.find_first_of("}\n", at);
    if (close == std::string::npos) break;
    if (out[close] == '}') {
      out[at + 1] = masked_open;
      out[close] = masked_close;
    }
    at = close;
  }
  return out;
}

void unmask_references(std::string& scalar) {
  std::replace(scalar.begin(), scalar.end(), masked_open, '{');
  std::replace(scalar.begin(), scalar.end(), masked_close, '}');
}

}  // namespace weir::config
