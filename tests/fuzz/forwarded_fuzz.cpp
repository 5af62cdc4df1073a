// Forged X-Forwarded-For, Forwarded and single-address fields: the element that a trusted proxy
// appended is found after any text, and addresses survive formatting and parsing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/characters.hpp"
#include "identity/client_address.hpp"
#include "identity/node.hpp"

namespace {

using namespace weir;
using identity::ClientAddressOptions;
using Header = ClientAddressOptions::Header;

void require(bool holds) {
  if (!holds) std::abort();
}

IpAddress client(Header header, std::string_view name, std::string_view value) {
  static const IpPrefix trusted = IpPrefix::parse("10.0.0.0/8").value();
  const ClientAddressOptions settings{
      .trusted_proxies = {trusted}, .header = header, .header_name = std::string{name}};
  const http::FieldView field{.id = http::FieldId::unknown, .name = name, .value = value};
  http::RequestView request;
  request.fields = {&field, 1};
  return identity::client_address(settings, IpAddress::v4({10, 0, 0, 1}), request);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string value{reinterpret_cast<const char*>(data), size};
  if (!http::is_field_value(value)) return 0;
  for (const auto& found : {client(Header::x_forwarded_for, "x-forwarded-for", value),
                            client(Header::forwarded, "forwarded", value),
                            client(Header::single, "x-real-ip", value)}) {
    require(IpAddress::parse(found.to_string()) == found);
  }
  const IpAddress real = IpAddress::v4({192, 0, 2, 1});
  require(client(Header::x_forwarded_for, "x-forwarded-for", value + ", 192.0.2.1") == real);
  require(client(Header::forwarded, "forwarded", value + ", for=192.0.2.1;proto=https") == real);
  require(client(Header::forwarded, "forwarded", value + ", for=\"192.0.2.1:80\"") == real);
  if (const auto node = identity::parse_node(value))
    require(identity::parse_node(node->to_string()) == node);
  return 0;
}
