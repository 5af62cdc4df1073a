// Forged PROXY headers: a complete header is incomplete at every shorter length, ends within the
// bytes that arrived, and does not depend on the bytes after it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/proxy_protocol.hpp"

namespace http = weir::http;
using State = http::ProxyHeader::State;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  const auto found = http::parse_proxy_header(input);
  if (found.state == State::incomplete) require(size < http::longest_proxy_header);
  if (found.state != State::complete) return 0;
  require(found.size <= size && found.size <= http::longest_proxy_header);
  const auto alone = http::parse_proxy_header(input.substr(0, found.size));
  require(alone.state == State::complete && alone.size == found.size &&
          alone.source == found.source);
  require(http::parse_proxy_header(std::string(input) + "x").source == found.source);
  for (const std::size_t less : {std::size_t{0}, found.size / 2, found.size - 1})
    require(http::parse_proxy_header(input.substr(0, less)).state == State::incomplete);
  return 0;
}
