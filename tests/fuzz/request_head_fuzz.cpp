// Arbitrary request heads: they are found whole in any pieces; Beast's parser reads an accepted
// head in the same way, and it is forwarded as exactly one head with the same meaning.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

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

/// A parser that has only the numbers of field names in common with Weir's.
class Beast : public boost::beast::http::basic_parser<true> {
 public:
  using Text = boost::beast::string_view;
  using Ec = boost::beast::error_code;
  using Length = boost::optional<std::uint64_t>;

  std::string method;
  std::string target;
  int version = 0;
  std::vector<std::pair<std::string, std::string>> fields;

  /// No error if all of it is one head.
  Ec read(std::string_view head) {
    skip(true);  // whether there is a body is not the question
    header_limit(static_cast<std::uint32_t>(head.size() + 1));
    body_limit(boost::none);
    Ec ec;
    const std::size_t used = put(boost::asio::buffer(head.data(), head.size()), ec);
    require(ec || (used == head.size() && is_header_done()));
    return ec;
  }

 private:
  void on_request_impl(boost::beast::http::verb, Text of_method, Text of_target, int of_version,
                       Ec&) override {
    method = std::string(of_method);
    target = std::string(of_target);
    version = of_version;
  }
  void on_field_impl(boost::beast::http::field, Text name, Text value, Ec&) override {
    fields.emplace_back(std::string(name), std::string(value));
  }
  void on_response_impl(int, Text, int, Ec&) override {}
  void on_header_impl(Ec&) override {}
  void on_body_init_impl(const Length&, Ec&) override {}
  std::size_t on_body_impl(Text, Ec&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, Text, Ec&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text, Ec&) override { return 0; }
  void on_finish_impl(Ec&) override {}
};

void require_that_beast_agrees(std::string_view head, const proxy::Exchange& read) {
  Beast beast;
  const auto ec = beast.read(head);
  require(beast.method == read.request.method);
  require(beast.version == 10 + read.request.version_minor);
  const auto line = head.substr(0, head.find('\r'));
  require(line ==
          beast.method + ' ' + beast.target + (beast.version == 11 ? " HTTP/1.1" : " HTTP/1.0"));
  // Beast reads these two fields before their values are requested.
  const bool names_options = read.request.find(http::FieldId::connection) != nullptr ||
                             read.request.find(http::FieldId::proxy_connection) != nullptr;
  if (ec == boost::beast::http::error::bad_value && names_options) return;
  require(!ec);
  require(beast.fields.size() == read.fields.size());
  for (std::size_t i = 0; i < beast.fields.size(); ++i) {
    require(beast.fields[i].first == read.fields[i].name);
    require(beast.fields[i].second == read.fields[i].value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto whole = head_size(text, text.size());
  // A bare LF after the head is a part of the next message if both arrive at once.
  if (whole)
    require(head_size(std::string_view(text).substr(0, *whole), 1) == whole ||
            !head_size(std::string_view(text).substr(0, *whole), 1));
  if (!whole) return 0;

  proxy::Exchange received;
  const std::string head = text.substr(0, *whole);
  if (!inspect(head, received)) return 0;
  require_that_beast_agrees(head, received);
  constexpr std::size_t most_added = 8;  // the next recipient may have the same limit
  if (received.fields.size() + most_added > proxy::most_fields) return 0;
  upstream::Upstream upstream;
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
