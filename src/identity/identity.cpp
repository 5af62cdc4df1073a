#include "identity/identity.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "http/characters.hpp"
#include "identity/blanks.hpp"
#include "identity/credentials.hpp"
#include "identity/parameters.hpp"
#include "identity/serialisation.hpp"
#include "identity/token_readings.hpp"

namespace weir::identity {
namespace {

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
    append_client(evidence_.client, evidence_.client_options, out_);
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
                             const ValueOptions& options, SipKey key) {
  std::vector<Hash128> keys;
  each_part(source, [&](const Source& part) {
    Serialisation serialised;
    if (std::visit(ValueWriter(value, options, serialised), part.from))
      keys.push_back(siphash128(key, serialised.view()));
  });
  return keys;
}

}  // namespace weir::identity
