#include "proxy/via_name.hpp"

#include <string>

#include "base/random.hpp"
#include "http/append_number.hpp"

namespace weir::proxy {

std::string_view via_name() {
  static const std::string name = [] {
    std::string text = "weir-";
    http::append_number<16>(text, static_cast<std::uint32_t>(random_seed()));
    return text;
  }();
  return name;
}

}  // namespace weir::proxy
