// The input of an identity's hash, and the values that are appended to it. Private to this room:
// see identity.hpp and written_key.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>

#include "http/characters.hpp"
#include "http/request_view.hpp"
#include "identity/blanks.hpp"
#include "identity/credentials.hpp"
#include "identity/identity.hpp"
#include "identity/parameters.hpp"

namespace weir::identity {

// The numbers are part of hashes that outlive the process: never reuse one for another kind.
enum class Tag : char {
  client_address = 1,
  header = 2,
  query = 3,
  cookie = 4,
  path_parameter = 5,
  path = 6,
  all_of = 7,
  claim = 8,
  descriptor = 9,
};

/// The input of the hash: tags, and parts with their length, so that two identities never have the
/// same bytes.
class Serialisation {
 public:
  void tag(Tag tag) { bytes_.push_back(static_cast<char>(tag)); }
  void count(std::size_t number) {
    bytes_.resize(bytes_.size() + count_size);
    write_count(bytes_.size() - count_size, number);
  }
  void part(std::string_view text) {
    count(text.size());
    append(text);
  }
  void part_in_lower_case(std::string_view text) {
    part(text);
    std::transform(bytes_.end() - static_cast<std::ptrdiff_t>(text.size()), bytes_.end(),
                   bytes_.end() - static_cast<std::ptrdiff_t>(text.size()), http::to_lower);
  }
  /// Appends a value without blanks at its ends; returns false if nothing is left. Values that
  /// differ only in such blanks are equal, because some services remove them.
  bool part_decoded_and_trimmed(std::string_view text) {
    const std::size_t start = bytes_.size();
    count(0);
    const std::size_t begin = bytes_.size();
    for (PercentDecoder decoder{text}; !decoder.at_end();)
      bytes_.push_back(decoder.next());
    const std::string_view value = without_unicode_blanks(view().substr(begin));
    const std::size_t size = value.size();
    bytes_.erase(bytes_.begin() + static_cast<std::ptrdiff_t>(begin),
                 bytes_.begin() + (value.data() - bytes_.data()));
    cut_to(begin + size);
    write_count(start, size);
    return size > 0;
  }
  /// Appends counted_credentials() without the blanks after commas between parameters.
  void part_credentials(std::string_view text) {
    text = counted_credentials(text);
    const std::size_t start = bytes_.size();
    count(0);
    for (char last = ' '; const char c : text) {
      if (last == ',' && http::is_white_space(c)) continue;
      bytes_.push_back(last = c);
    }
    write_count(start, bytes_.size() - start - count_size);
  }
  /// Appends a claim; returns false if it cannot identify a client.
  bool part_claim(std::string_view provider, std::string_view path, const jwt::Claim& claim) {
    using Kind = jwt::ClaimKind;
    if (claim.kind != Kind::text && claim.kind != Kind::number && claim.kind != Kind::boolean)
      return false;
    tag(Tag::claim);
    part(provider);
    part(path);
    count(static_cast<std::size_t>(claim.kind));
    part(claim.text);
    return true;
  }
  std::size_t size() const { return bytes_.size(); }
  void cut_to(std::size_t size) { bytes_.resize(size); }
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }

 private:
  static constexpr std::size_t count_size = 4;

  void write_count(std::size_t at, std::size_t number) {
    std::array<char, count_size> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled
    for (std::size_t i = 0; i < count_size; ++i)
      bytes[i] = static_cast<char>(number >> (8 * i));
    std::memcpy(&bytes_[at], bytes.data(), count_size);  // one store
  }
  void append(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }

  boost::container::small_vector<char, 256> bytes_;
};

inline void append_client(const IpAddress& client, const ClientAddressOptions& options,
                          Serialisation& out) {
  const IpAddress network = client.masked(options.ipv4_prefix, options.ipv6_prefix);
  out.tag(Tag::client_address);
  out.part({reinterpret_cast<const char*>(network.bytes().data()), network.bytes().size()});
}

inline void append_path(std::string_view path, bool ignores_case, bool ignores_trailing_slash,
                        Serialisation& out) {
  out.tag(Tag::path);
  if (ignores_trailing_slash && path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  ignores_case ? out.part_in_lower_case(path) : out.part(path);
}

inline bool carries_credentials(std::string_view field_name) {
  return http::iequals(field_name, "authorization") ||
         http::iequals(field_name, "proxy-authorization");
}

/// Appends a value that is written as text; returns false if no request can have it.
class ValueWriter {
 public:
  ValueWriter(std::string_view value, const ValueOptions& options, Serialisation& out)
      : value_(value), options_(options), out_(out) {}

  bool operator()(const FromClientAddress&) {
    if (const auto address = IpAddress::parse(value_)) {
      append_client(*address, options_.client, out_);
      return true;
    }
    const auto network = IpPrefix::parse(value_);
    if (!network) return false;
    // IPv4 addresses are in the last 32 of 128 bits.
    const bool is_v4 = network->network().is_v4();
    const int counted = is_v4 ? 96 + options_.client.ipv4_prefix : options_.client.ipv6_prefix;
    if (network->bits() != counted) return false;
    append_client(network->network(), options_.client, out_);
    return true;
  }
  bool operator()(const FromHeader& from) {
    const std::string_view value = without_blanks(value_);
    if (value.empty()) return false;
    if (carries_credentials(from.name) && judge_credentials(value) != Credentials::clear)
      return false;
    out_.tag(Tag::header);
    out_.part_in_lower_case(from.name);
    carries_credentials(from.name) ? out_.part_credentials(value) : out_.part(value);
    return true;
  }
  bool operator()(const FromQuery& from) { return parameter(Tag::query, from.name); }
  bool operator()(const FromCookie& from) { return parameter(Tag::cookie, from.name); }
  bool operator()(const FromClaim& from) {
    if (value_.empty()) return false;
    return out_.part_claim(from.provider, from.claim,
                           {.kind = jwt::ClaimKind::text, .text = std::string(value_)});
  }
  bool operator()(const FromPath& from) {
    if (value_.empty()) return false;
    if (from.parameter.empty()) {
      append_path(value_, options_.path_ignores_case, options_.path_ignores_trailing_slash, out_);
      return true;
    }
    out_.tag(Tag::path_parameter);
    out_.part(from.parameter);
    out_.part(value_);
    return true;
  }
  bool operator()(const AnyOf&) { return false; }
  bool operator()(const AllOf&) { return false; }

 private:
  bool parameter(Tag tag, std::string_view name) {
    const std::string_view value = without_unicode_blanks(value_);
    if (value.empty()) return false;
    out_.tag(tag);
    out_.part(name);
    out_.part(value);
    return true;
  }

  std::string_view value_;
  const ValueOptions& options_;
  Serialisation& out_;
};

}  // namespace weir::identity
