// Request heads that any client may send. The end of a head is found for every division into
// pieces. An accepted head means the same to Beast's parser, and is forwarded as exactly one head
// that Weir accepts and that means the same.
#include <algorithm>
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

#include "decision/head_inspection.hpp"
#include "http/forwarded_head.hpp"
#include "http/head_parser.hpp"

namespace {

using namespace weir;
using http::HeadEnd;

void require(bool holds) {
  if (!holds) std::abort();
}

/// The size of the head at the front of `text` when it arrives in steps of `step` bytes.
std::optional<std::size_t> head_size(std::string_view text, std::size_t step) {
  std::size_t scanned = 0;
  for (std::size_t arrived = 0; arrived < text.size();) {
    arrived = std::min(text.size(), arrived + step);
    const http::HeadEnd end = http::find_head_end(text.substr(0, arrived), scanned);
    if (end.state == http::HeadEnd::State::complete) return end.size;
    if (end.state == http::HeadEnd::State::malformed) return std::nullopt;
  }
  return std::nullopt;
}

/// Forwards every request, with the defaults of a configuration or with others for the head.
struct Configuration {
  explicit Configuration(const options::Downstream& downstream) : options(one_route(downstream)) {}

  bool accepts(std::string_view head, http::ReceivedRequest& request) const {
    return !decision::inspect_head(rules, head, request);
  }

  options::Proxy options;
  limiter::Options limits;
  decision::RequestRules rules{options, limits};

 private:
  static options::Proxy one_route(const options::Downstream& downstream) {
    options::Proxy made;
    made.downstream = downstream;
    made.routes.emplace_back().upstream = 0;
    return made;
  }
};

/// A parser that shares nothing with ours but the field names' numbers.
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

void require_that_beast_agrees(std::string_view head, const http::ReceivedRequest& read) {
  Beast beast;
  const auto ec = beast.read(head);
  require(beast.method == read.view.method);
  require(beast.version == 10 + read.view.version_minor);
  const auto line = head.substr(0, head.find('\r'));
  require(line ==
          beast.method + ' ' + beast.target + (beast.version == 11 ? " HTTP/1.1" : " HTTP/1.0"));
  // Beast parses the values of these two fields already when it reads the head.
  const bool names_options = read.view.find(http::FieldId::connection) != nullptr ||
                             read.view.find(http::FieldId::proxy_connection) != nullptr;
  if (ec == boost::beast::http::error::bad_value && names_options) return;
  require(!ec);
  std::vector<http::FieldView> fields;  // of the request, the inspection may have dropped some
  require(http::parse_request_head(head, fields).has_value());
  require(beast.fields.size() == fields.size());
  for (std::size_t i = 0; i < beast.fields.size(); ++i) {
    require(beast.fields[i].first == fields[i].name);
    require(beast.fields[i].second == fields[i].value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto whole = head_size(text, text.size());
  // A bare LF after the head belongs to the next message when both arrive at once.
  if (whole)
    require(head_size(std::string_view(text).substr(0, *whole), 1) == whole ||
            !head_size(std::string_view(text).substr(0, *whole), 1));
  if (!whole) return 0;

  static const Configuration usual({});
  static const Configuration other(
      {.unusual_field_names = options::UnusualNames::drop, .raw_target_bytes = true});
  const Configuration& configuration = size / 2 % 2 == 0 ? usual : other;
  http::ReceivedRequest received;
  received.peer = IpAddress::v4({192, 0, 2, 1});
  received.peer_is_trusted = size % 2 == 0;
  const std::string head = text.substr(0, *whole);
  if (!configuration.accepts(head, received)) return 0;
  require_that_beast_agrees(head, received);
  constexpr std::size_t most_added = 8;  // with them it may be too many for the next recipient
  if (received.fields.size() + most_added > http::most_fields) return 0;
  std::string sent;
  http::append_request_head(
      sent, received,
      {.guard = configuration.rules.field_guard, .via = "weir-fuzz", .authority = "127.0.0.1:1"});

  require(head_size(sent, sent.size()) == sent.size());
  http::ReceivedRequest forwarded;
  forwarded.peer = received.peer;
  require(configuration.accepts(sent, forwarded));
  require(forwarded.view.method == received.view.method);
  require(forwarded.view.target == received.view.target);
  require(forwarded.view.version_minor == 1);
  require(forwarded.framing == received.framing);
  return 0;
}
