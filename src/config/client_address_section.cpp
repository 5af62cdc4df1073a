// `client_address`: the peers whose forwarding fields are trusted.
#include <algorithm>

#include "config/sections.hpp"
#include "http/characters.hpp"
#include "http/field_guard.hpp"

namespace weir::config {

namespace {

using identity::ClientAddressOptions;

constexpr std::size_t most_proxies = 1024;
constexpr std::size_t most_untrusted_fields = 256;

/// The family of which a prefix has all addresses, or nothing. The addresses of ::ffff:0:0/96 and
/// of the NAT64 prefix 64:ff9b::/96 are read as IPv4.
std::string_view family_of_all(const IpPrefix& prefix) {
  const auto holds = [&](const char* address) {
    return prefix.contains(IpAddress::parse(address).value());
  };
  if (holds("0.0.0.0") && holds("255.255.255.255")) return "IPv4";
  if (holds("::") && holds("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")) return "IPv6";
  return {};
}

void read_trusted_proxies(const Cursor& in, ClientAddressOptions& to) {
  // An empty list is the explicit default.
  if (in.is_empty_list()) return;
  for_each_item(
      in, "a list of prefixes, such as [10.0.0.0/8]", most_proxies, [&](const Cursor& item) {
        const auto prefix = read_prefix(item);
        if (!prefix) return;
        to.trusted_proxies.push_back(*prefix);
        if (const auto family = family_of_all(*prefix); !family.empty())
          item.warn("this prefix means every " + std::string(family) +
                    " address, so each client could choose the address that it is counted for; "
                    "list the addresses of the proxies instead");
      });
}

void read_client_header(const Cursor& in, ClientAddressOptions& to) {
  auto name = read_field_name(in, "expected the name of a header field");
  if (!name) return;
  to.header_name = *std::move(name);
  to.header = to.header_name == "x-forwarded-for" ? ClientAddressOptions::Header::x_forwarded_for
              : to.header_name == "forwarded"     ? ClientAddressOptions::Header::forwarded
                                                  : ClientAddressOptions::Header::single;
}

void read_untrusted_fields(const Cursor& in, ClientAddressOptions& to) {
  if (in.is_empty_list()) return;
  for_each_item(
      in, "a list of field names, such as [x-geo-country, x-internal-*]", most_untrusted_fields,
      [&](const Cursor& item) {
        auto text = item.text();
        if (!text) return;
        const std::string_view written = *text;
        const auto name = written.substr(0, written.size() - (written.ends_with('*') ? 1 : 0));
        if (!http::is_token(name) || name.find('*') != std::string_view::npos)
          return item.error_showing(
              "expected the name of a header field, or the beginning of one and *, such as "
              "x-internal-*");
        if (!http::may_be_untrusted(name))
          return item.error(
              "the field frames or addresses a request and is always forwarded; remove "
              "it from the list");
        std::transform(text->begin(), text->end(), text->begin(), http::to_lower);
        to.untrusted_fields.push_back(*std::move(text));
      });
}

constexpr Key<ClientAddressOptions> client_address_keys[] = {
    {.name = "trusted_proxies", .read = read_trusted_proxies},
    {.name = "header", .read = read_client_header},
    {.name = "ipv4_prefix", .read = read::integer<1, 32, &ClientAddressOptions::ipv4_prefix>},
    {.name = "ipv6_prefix", .read = read::integer<1, 128, &ClientAddressOptions::ipv6_prefix>},
    {.name = "untrusted_fields", .read = read_untrusted_fields},
    {.name = "remove_untrusted_fields",
     .read = read::flag<&ClientAddressOptions::removes_untrusted_fields>},
};

}  // namespace

void read_client_address(const Cursor& in, Config& to) {
  read_table(in, client_address_keys, to.proxy.client_address);
  const bool is_default =
      to.proxy.client_address.header == ClientAddressOptions::Header::x_forwarded_for;
  if (!is_default && to.proxy.client_address.trusted_proxies.empty()) {
    in.at_key("header").warn("never read: trusted_proxies is empty, so the peer is the client");
  }
}
}  // namespace weir::config
