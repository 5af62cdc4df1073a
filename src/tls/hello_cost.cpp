#include "tls/hello_cost.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace weir::tls {
namespace {

constexpr std::size_t type_of_record = 22, type_of_message = 1;  // of a ClientHello
constexpr std::size_t tls13 = 0x0304;
// Extensions.
constexpr std::size_t supported_groups = 10, supported_versions = 43, key_share = 51;

/// Reads numbers and vectors of the TLS presentation language (RFC 8446 section 3). After a read
/// beyond the end it has failed, and everything is 0 or empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool has_failed() const { return has_failed_; }
  bool is_at_end() const { return rest_.empty(); }
  std::string_view bytes(std::size_t count) {
    if (count > rest_.size()) {
      has_failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::size_t number(std::size_t size) {
    std::size_t value = 0;
    for (const char byte : bytes(size))
      value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }
  /// Its length comes first, in that many bytes.
  std::string_view vector(std::size_t length_size) { return bytes(number(length_size)); }

 private:
  std::string_view rest_;
  bool has_failed_ = false;
};

/// A list of numbers of two bytes each.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}
  /// The first one for which `matches` is true.
  template <class Matches>
  std::optional<std::size_t> find(Matches matches) const {
    for (Reader rest(bytes_); !rest.is_at_end();) {
      const std::size_t number = rest.number(2);
      if (!rest.has_failed() && matches(number)) return number;
    }
    return std::nullopt;
  }
  bool is_empty() const { return bytes_.empty(); }
  bool contains(std::size_t number) const {
    return find([number](std::size_t one) { return one == number; }).has_value();
  }

 private:
  std::string_view bytes_;
};

/// The parts of a ClientHello that decide about the key exchange.
struct Offer {
  Numbers versions{{}};
  Numbers groups{{}};           ///< in the client's order
  std::string_view key_shares;  ///< key shares, each of one group
};

void read_extension(std::size_t type, std::string_view content, Offer& offer) {
  Reader body(content);
  if (type == supported_versions) offer.versions = Numbers(body.vector(1));
  if (type == supported_groups) offer.groups = Numbers(body.vector(2));
  if (type == key_share) offer.key_shares = body.vector(2);
}

std::optional<Offer> read_offer(std::string_view hello) {
  Reader record(hello);
  if (record.number(1) != type_of_record) return std::nullopt;
  record.bytes(2);
  Reader content(record.vector(2));
  if (content.number(1) != type_of_message) return std::nullopt;
  Reader message(content.vector(3));
  message.bytes(2 + 32);  // version, random
  message.vector(1);      // session
  message.vector(2);      // ciphers
  message.vector(1);      // compression
  Offer offer;
  Reader extensions(message.is_at_end() ? std::string_view{} : message.vector(2));
  while (!extensions.is_at_end()) {
    const std::size_t type = extensions.number(2);
    read_extension(type, extensions.vector(2), offer);
  }
  const bool is_whole = !record.has_failed() && !content.has_failed() && !message.has_failed() &&
                        !extensions.has_failed();
  return is_whole ? std::optional(offer) : std::nullopt;
}

bool is_accepted(std::size_t group, std::span<const Group> accepted) {
  return std::any_of(accepted.begin(), accepted.end(),
                     [group](Group one) { return static_cast<std::size_t>(one) == group; });
}

bool is_costly(std::size_t group) {
  return group != static_cast<std::size_t>(Group::x25519) &&
         group != static_cast<std::size_t>(Group::p256);
}

/// The version of OpenSSL determines which of the accepted shares the server uses, so a costly one
/// counts in any position. No value: none is accepted.
std::optional<bool> has_costly_share(std::string_view key_shares, std::span<const Group> accepted) {
  std::optional<bool> is_any_costly;
  for (Reader rest(key_shares); !rest.is_at_end();) {
    const std::size_t group = rest.number(2);
    rest.vector(2);
    if (rest.has_failed()) return true;
    if (is_accepted(group, accepted))
      is_any_costly = is_any_costly.value_or(false) || is_costly(group);
  }
  return is_any_costly;
}

/// For TLS 1.2, and for TLS 1.3 without an accepted share, which leads to a HelloRetryRequest.
/// OpenSSL uses the client's order for the former and the server's for the latter, and options
/// change that, so both orders count. If a client lists no groups, the server chooses.
bool leads_to_costly_group(const Numbers& groups, std::span<const Group> accepted) {
  if (groups.is_empty()) return true;
  const auto by_client =
      groups.find([&](std::size_t group) { return is_accepted(group, accepted); });
  if (!by_client) return false;
  const auto by_server = std::find_if(accepted.begin(), accepted.end(), [&](Group group) {
    return groups.contains(static_cast<std::size_t>(group));
  });
  return is_costly(*by_client) || is_costly(static_cast<std::size_t>(*by_server));
}

}  // namespace

bool may_cost_much(std::string_view hello, std::span<const Group> accepted) {
  const std::optional<Offer> offer = read_offer(hello);
  if (!offer) return true;
  if (offer->versions.contains(tls13)) {
    if (const auto answer = has_costly_share(offer->key_shares, accepted)) return *answer;
  }
  return leads_to_costly_group(offer->groups, accepted);
}

}  // namespace weir::tls
