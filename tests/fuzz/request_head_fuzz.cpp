// Request heads as strangers may write them: found whole however they arrive, and what is accepted
// goes on as exactly one head that means the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "http/framing.hpp"
#include "http/request_target.hpp"
#include "proxy/forwarded_head.hpp"
#include "proxy/head_parser.hpp"

namespace {

using namespace weir;
using proxy::HeadEnd;

void require(bool holds) {
  if (!holds) std::abort();
}

/// The size of the head at the front of `text` when it arrives in steps of `step` bytes.
std::optional<std::size_t> head_size(std::string_view text, std::size_t step) {
  std::size_t scanned = 0;
  for (std::size_t arrived = 0; arrived < text.size();) {
    arrived = std::min(text.size(), arrived + step);
    const HeadEnd end = proxy::find_head_end(text.substr(0, arrived), scanned);
    if (end.state == HeadEnd::State::complete) return end.size;
    if (end.state == HeadEnd::State::malformed) return std::nullopt;
  }
  return std::nullopt;
}

bool inspect(std::string_view head, proxy::Exchange& exchange) {
  const auto line = proxy::parse_request_head(head, exchange.fields);
  if (!line) return false;
  exchange.request.method = line->method;
  exchange.request.version_minor = static_cast<std::uint8_t>(line->version % 10);
  exchange.request.fields = exchange.fields;
  if (http::set_target(exchange.request, line->target, exchange.target_storage)) return false;
  const auto framing = http::request_framing(exchange.request);
  if (!framing) return false;
  exchange.body = *framing;
  exchange.connection = http::connection_options(exchange.fields);
  return !exchange.connection.too_many;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto whole = head_size(text, text.size());
  // A bare LF behind the head is the next message's business when both arrive at once.
  if (whole)
    require(head_size(std::string_view(text).substr(0, *whole), 1) == whole ||
            !head_size(std::string_view(text).substr(0, *whole), 1));
  if (!whole) return 0;

  proxy::Exchange received;
  const std::string head = text.substr(0, *whole);
  if (!inspect(head, received)) return 0;
  constexpr std::size_t most_added = 8;  // with them it may be too many for the next recipient
  if (received.fields.size() + most_added > proxy::most_fields) return 0;
  config::Upstream upstream;
  upstream.servers = {{.url = {}, .host = "upstream.example"}};
  received.upstream = &upstream;
  received.server = &upstream.servers.front();
  std::string sent;
  proxy::append_request_head(
      sent, received,
      {.peer = identity::IpAddress::v4({192, 0, 2, 1}), .peer_is_trusted = size % 2 == 0});

  require(head_size(sent, sent.size()) == sent.size());
  proxy::Exchange forwarded;
  require(inspect(sent, forwarded));
  require(forwarded.request.method == received.request.method);
  require(forwarded.request.target == received.request.target);
  require(forwarded.request.version_minor == 1);
  require(forwarded.body == received.body);
  return 0;
}
