#include "identity/identity.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <boost/container/small_vector.hpp>

#include "http/characters.hpp"
#include "identity/blanks.hpp"
#include "identity/credentials.hpp"
#include "identity/parameters.hpp"
#include "identity/token_readings.hpp"

namespace weir::identity {
namespace {

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
    for (std::size_t i = 0; i < count_size; ++i)
      bytes_[at + i] = static_cast<char>(number >> (8 * i));
  }
  void append(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }

  boost::container::small_vector<char, 256> bytes_;
};

void append_client(const IpAddress& client, const ClientAddressSettings& settings,
                   Serialisation& out) {
  const IpAddress network = client.masked(settings.ipv4_prefix, settings.ipv6_prefix);
  out.tag(Tag::client_address);
  out.part({reinterpret_cast<const char*>(network.bytes().data()), network.bytes().size()});
}

void append_path(std::string_view path, bool ignores_case, bool ignores_trailing_slash,
                 Serialisation& out) {
  out.tag(Tag::path);
  if (ignores_trailing_slash && path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  ignores_case ? out.part_in_lower_case(path) : out.part(path);
}

bool carries_credentials(std::string_view field_name) {
  return http::iequals(field_name, "authorization") ||
         http::iequals(field_name, "proxy-authorization");
}

/// Appends a value that is written as text; returns false if no request can have it.
class ValueWriter {
 public:
  ValueWriter(std::string_view value, const ValueSettings& settings, Serialisation& out)
      : value_(value), settings_(settings), out_(out) {}

  bool operator()(const FromClientAddress&) {
    const auto address = IpAddress::parse(value_);
    if (address) append_client(*address, settings_.client, out_);
    return address.has_value();
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
      append_path(value_, settings_.path_ignores_case, settings_.path_ignores_trailing_slash, out_);
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
  const ValueSettings& settings_;
  Serialisation& out_;
};

/// Appends the value that a source has in the request; returns false if it is absent or ambiguous.
class Reader {
 public:
  Reader(const Evidence& evidence, TokenReadings& tokens, Serialisation& out)
      : evidence_(evidence), tokens_(tokens), out_(out) {}

  /// The first ambiguity found.
  const std::optional<Ambiguity>& ambiguity() const { return ambiguity_; }
  /// The first invalid token.
  const std::optional<TokenFault>& token_fault() const { return token_fault_; }

  bool operator()(const FromClientAddress&) {
    append_client(evidence_.client, evidence_.client_settings, out_);
    return true;
  }

  bool operator()(const FromHeader& from) {
    const http::FieldView* field = evidence_.request.find(from.name);
    const std::string_view value = field == nullptr ? "" : without_blanks(field->value);
    if (value.empty()) return false;
    const bool has_scheme = field->id == http::FieldId::authorization ||
                            field->id == http::FieldId::proxy_authorization;
    if (has_scheme && !are_clear(field->value)) return false;
    out_.tag(Tag::header);
    out_.part_in_lower_case(from.name);
    has_scheme ? out_.part_credentials(value) : out_.part(value);
    return true;
  }

  bool operator()(const FromQuery& from) {
    const std::string_view value =
        noted(counted_value(query_parameters(evidence_.request.query, from.name), from.repeated));
    if (value.empty()) return false;
    out_.tag(Tag::query);
    out_.part(from.name);
    return out_.part_decoded_and_trimmed(value);
  }

  bool operator()(const FromCookie& from) {
    Occurrences found = cookies(evidence_.request, from.name);
    found.malformed &= from.malformed == Malformed::refuse;
    const std::string_view value = noted(counted_value(found, from.repeated));
    if (value.empty()) return false;
    // Python and others read escapes in quotes, which are not valid in a cookie value (RFC 6265
    // section 4.1.1).
    if (value.find('\\') != std::string_view::npos) {
      note(Ambiguity::Kind::escape);
      return false;
    }
    out_.tag(Tag::cookie);
    out_.part(from.name);
    return out_.part_decoded_and_trimmed(value);
  }

  bool operator()(const FromClaim& from) {
    const TokenReading* const token = valid_token(from, *source_);
    return token != nullptr &&
           out_.part_claim(from.provider, from.claim, token->claims[from.claim_index]);
  }

  /// nullptr: there is none, and the ambiguity of `source` or the fault is noted.
  const TokenReading* valid_token(const FromClaim& from, const Source& source) {
    using State = TokenReading::State;
    const TokenReading& token = tokens_.of(from.provider_index, evidence_.request);
    switch (token.state) {
      case State::valid:
        return &token;
      case State::absent:
        break;
      case State::ambiguous:
        if (!ambiguity_) ambiguity_ = {.kind = token.ambiguity, .source = &source};
        break;
      case State::invalid:
      case State::unverifiable:
        if (token_fault_) break;
        token_fault_ = {.provider = from.provider_index};
        if (token.state == State::invalid) token_fault_->rejection = token.rejection;
        break;
    }
    return nullptr;
  }

  bool operator()(const FromPath& from) {
    if (from.parameter.empty()) {
      append_path(evidence_.path, evidence_.path_ignores_case,
                  evidence_.path_ignores_trailing_slash, out_);
      return true;
    }
    for (const PathParameter& parameter : evidence_.path_parameters) {
      if (parameter.name != from.parameter || parameter.value.empty()) continue;
      out_.tag(Tag::path_parameter);
      out_.part(from.parameter);
      out_.part(parameter.value);
      return true;
    }
    return false;
  }

  /// The parts after the first that is found are checked for ambiguities too: the service may read
  /// them first.
  bool operator()(const AnyOf& from) {
    bool found = false;
    for (const Source& source : from.sources) {
      const std::size_t before = out_.size();
      const bool is_first = read(source) && !found;
      if (!is_first) out_.cut_to(before);  // also the parts of an all_of before an absent one
      found |= is_first;
    }
    return found;
  }

  bool operator()(const AllOf& from) {
    out_.tag(Tag::all_of);
    out_.count(from.sources.size());
    bool found = true;
    for (const Source& source : from.sources)
      found &= read(source);
    return found;
  }

  bool read(const Source& source) {
    const Source* const outer = std::exchange(source_, &source);
    const bool found = std::visit(*this, source.from);
    source_ = outer;
    return found;
  }

 private:
  bool are_clear(std::string_view credentials) {
    switch (judge_credentials(credentials)) {
      case Credentials::clear:
        return true;
      case Credentials::base64:
        note(Ambiguity::Kind::encoding);
        break;
      case Credentials::words:
        note(Ambiguity::Kind::words);
        break;
    }
    return false;
  }

  std::string_view noted(const CountedValue& value) {
    return value.ambiguity ? note(*value.ambiguity) : value.text;
  }
  std::string_view note(Ambiguity::Kind kind) {
    if (!ambiguity_) ambiguity_ = {.kind = kind, .source = source_};
    return {};
  }

  const Evidence& evidence_;
  TokenReadings& tokens_;
  Serialisation& out_;
  const Source* source_ = nullptr;  ///< the source being read
  std::optional<Ambiguity> ambiguity_;
  std::optional<TokenFault> token_fault_;
};

}  // namespace

const std::string* header_of(const Source& source) {
  const FromHeader* header = std::get_if<FromHeader>(&source.from);
  if (const auto* const claim = std::get_if<FromClaim>(&source.from))
    header = std::get_if<FromHeader>(&claim->token);
  return header == nullptr ? nullptr : &header->name;
}

std::optional<Hash128> key_of_claim(std::string_view provider, std::string_view path,
                                    const jwt::Claim& claim, SipKey key) {
  Serialisation serialised;
  if (!serialised.part_claim(provider, path, claim)) return std::nullopt;
  return siphash128(key, serialised.view());
}

Resolution resolve(const Source& source, const Evidence& evidence, SipKey key,
                   TokenReadings& tokens) {
  using State = Resolution::State;
  Serialisation serialised;
  Reader reader{evidence, tokens, serialised};
  std::optional<Hash128> found;
  if (const auto* const claim = std::get_if<FromClaim>(&source.from)) {
    if (const TokenReading* const token = reader.valid_token(*claim, source))
      found = token->keys[claim->claim_index];
  } else if (reader.read(source)) {
    found = siphash128(key, serialised.view());
  }
  if (reader.ambiguity()) return {.state = State::ambiguous, .ambiguity = *reader.ambiguity()};
  if (reader.token_fault()) return {.state = State::invalid, .token_fault = *reader.token_fault()};
  if (!found) return {};
  return {.state = State::found, .key = *found};
}

bool has_one_value(const Source& source) {
  if (const auto* const any = std::get_if<AnyOf>(&source.from))
    return std::ranges::all_of(any->sources, has_one_value);
  return !std::holds_alternative<AllOf>(source.from);
}

std::vector<Hash128> keys_of(const Source& source, std::string_view value,
                             const ValueSettings& settings, SipKey key) {
  std::vector<Hash128> keys;
  each_part(source, [&](const Source& part) {
    Serialisation serialised;
    if (std::visit(ValueWriter(value, settings, serialised), part.from))
      keys.push_back(siphash128(key, serialised.view()));
  });
  return keys;
}

}  // namespace weir::identity
