#include "identity/plain_key.hpp"

#include <charconv>
#include <string>
#include <variant>

#include "identity/token_readings.hpp"

namespace weir::identity {
namespace {

/// A request that carries one value.
struct Carrier {
  std::string text{};  ///< a field's value or a query
  http::FieldView field{};
  http::RequestView request{};
  std::optional<PathParameter> parameter{};
  IpAddress client{};
  std::string_view path = "/";
};

/// Encodes each byte, so that all are read as part of a value.
void append_encoded(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    ((out += '%') += digits[byte >> 4]) += digits[byte & 15];
  }
}

/// The address, or that of a network in CIDR notation.
std::optional<IpAddress> address_in(std::string_view text) {
  return IpAddress::parse(text.substr(0, text.find('/')));
}

/// Puts the value where a source reads it. Returns false if it cannot be there.
class Writer {
 public:
  Writer(std::string_view value, Carrier& to) : value_(value), to_(to) {}

  bool operator()(const FromClientAddress&) const {
    const auto address = address_in(value_);
    if (address) to_.client = *address;
    return address.has_value();
  }
  bool operator()(const FromHeader& from) const { return put_field(from.name, value_); }
  bool operator()(const FromQuery& from) const {
    to_.text.append(from.name) += '=';
    append_encoded(to_.text, value_);
    to_.request.query = to_.text;
    return true;
  }
  bool operator()(const FromCookie& from) const {
    std::string line = from.name + '=';
    append_encoded(line, value_);
    to_.text = std::move(line);
    return put_field("Cookie", to_.text);
  }
  bool operator()(const FromPath& from) const {
    if (from.parameter.empty()) {
      to_.path = value_;
    } else {
      to_.parameter = PathParameter{.name = from.parameter, .value = value_};
    }
    return true;
  }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }

 private:
  bool put_field(std::string_view name, std::string_view value) const {
    to_.field = {.id = boost::beast::http::string_to_field({name.data(), name.size()}),
                 .name = name,
                 .value = value};
    to_.request.fields = {&to_.field, 1};
    return true;
  }

  std::string_view value_;
  Carrier& to_;
};

}  // namespace

std::optional<Hash128> key_of(const Source& source, std::string_view value,
                              const ClientAddressSettings& client_settings, SipKey key) {
  if (const auto* const claim = std::get_if<FromClaim>(&source.from)) {
    if (value.empty()) return std::nullopt;
    return key_of_claim(claim->provider, claim->claim,
                        {.kind = jwt::ClaimKind::text, .text = std::string(value)}, key);
  }
  Carrier carrier;
  if (!std::visit(Writer(value, carrier), source.from)) return std::nullopt;
  std::span<const PathParameter> parameters;
  if (carrier.parameter) parameters = {&*carrier.parameter, 1};
  TokenReadings no_tokens({}, key);
  const Resolution found = resolve(source,
                                   {.request = carrier.request,
                                    .path = carrier.path,
                                    .client = carrier.client,
                                    .path_parameters = parameters,
                                    .client_settings = client_settings},
                                   key, no_tokens);
  if (found.state != Resolution::State::found) return std::nullopt;
  return found.key;
}

bool is_combined(const Source& source) {
  return std::holds_alternative<AnyOf>(source.from) || std::holds_alternative<AllOf>(source.from);
}

std::optional<Hash128> hash_from_hex(std::string_view digits) {
  constexpr std::size_t half = 16;
  if (digits.size() != 2 * half) return std::nullopt;
  Hash128 hash;
  const auto parse = [](std::string_view part, std::uint64_t& to) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), to, 16);
    return error == std::errc{} && end == part.data() + part.size();
  };
  if (!parse(digits.substr(0, half), hash.high) || !parse(digits.substr(half), hash.low))
    return std::nullopt;
  return hash;
}

}  // namespace weir::identity
