#include "proxy/websocket_key.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "tls/digest.hpp"

namespace weir::proxy {

std::string websocket_key(std::uint64_t random, std::uint64_t more) {
  std::array<char, 16> bytes{};
  std::memcpy(bytes.data(), &random, sizeof random);
  std::memcpy(bytes.data() + sizeof random, &more, sizeof more);
  return tls::base64({bytes.data(), bytes.size()});
}

bool accepts_key(std::span<const http::FieldView> response, std::string_view key) {
  constexpr std::string_view suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  const auto field = std::ranges::find_if(response, [](const http::FieldView& one) {
    return http::iequals(one.name, "sec-websocket-accept");
  });
  return field != response.end() &&
         field->value == tls::base64(tls::sha1(std::string(key).append(suffix)));
}

}  // namespace weir::proxy
