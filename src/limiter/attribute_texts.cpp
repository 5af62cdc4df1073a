#include "limiter/attribute_texts.hpp"

#include <algorithm>
#include <variant>

#include "http/request_view.hpp"

namespace weir::limiter {
namespace {

// The longest text written here: an IPv6 address, 39 characters, or 32 digits of a hash.
constexpr std::size_t made_text_size = 40;
constexpr std::size_t most_texts = limits_per_route * attribute_limit;

void collect_headers(const identity::Source& source, std::vector<std::string>& names) {
  identity::each_part(source, [&](const identity::Source& part) {
    if (const std::string* const header = identity::header_of(part)) names.push_back(*header);
    if (std::holds_alternative<identity::FromCookie>(part.from)) names.emplace_back("cookie");
  });
}

}  // namespace

/// Reads the attributes of one policy.
class AttributeReader::Reading {
 public:
  Reading(const AttributeReader& reader, const identity::Evidence& evidence,
          identity::TokenReadings& tokens, std::string& made)
      : reader_(reader), evidence_(evidence), tokens_(tokens), made_(made) {}

  std::string_view text_of(const Attribute& attribute);
  const std::optional<identity::Ambiguity>& ambiguity() const { return ambiguity_; }
  const std::optional<identity::TokenFault>& token_fault() const { return token_fault_; }

 private:
  bool is_secret(std::string_view header) const;
  std::string_view hash_of(const Attribute& attribute);
  /// The text that `append` has appended.
  template <class Append>
  std::string_view made(Append&& append) {
    const std::size_t start = made_.size();
    append();
    return std::string_view(made_).substr(start);
  }

  const AttributeReader& reader_;
  const identity::Evidence& evidence_;
  identity::TokenReadings& tokens_;
  std::string& made_;
  std::optional<identity::Ambiguity> ambiguity_;
  std::optional<identity::TokenFault> token_fault_;
};

AttributeReader::AttributeReader(const Options& options) : options_(options) {
  // Credentials are secret whether or not an identity reads them.
  secret_headers_ = {"authorization", "proxy-authorization", "cookie"};
  for (const auto& identity : options.identities)
    collect_headers(identity.source, secret_headers_);
  for (const auto& source : options.plans.sources) {
    if (const auto* const claim = std::get_if<PlanFromClaim>(&source.from))
      collect_headers(claim->source, secret_headers_);
  }
}

AttributeReader::Attributes AttributeReader::read(const Policy& policy,
                                                  const identity::Evidence& evidence,
                                                  identity::TokenReadings& tokens,
                                                  AttributeTexts& texts) const {
  if (policy.attributes.empty()) return {};
  std::string& made = texts.made_;
  auto& views = texts.views_;
  made.reserve(most_texts * made_text_size);  // so that no text moves
  views.reserve(most_texts);
  const std::size_t first = views.size();
  const std::size_t made_before = made.size();
  Reading reading(*this, evidence, tokens, made);
  for (const auto& attribute : policy.attributes)
    views.push_back(reading.text_of(attribute));
  if (reading.ambiguity() || reading.token_fault()) {
    views.resize(first);
    made.resize(made_before);
  }
  return {.texts = std::span(views).subspan(first),
          .ambiguity = reading.ambiguity(),
          .token_fault = reading.token_fault()};
}

std::string_view AttributeReader::Reading::text_of(const Attribute& attribute) {
  using Kind = Attribute::Kind;
  switch (attribute.kind) {
    case Kind::method:
      return evidence_.request.method;
    case Kind::path:
      return evidence_.path;
    case Kind::client_address:
      return made([&] { made_ += evidence_.client.text(); });
    case Kind::header: {
      if (is_secret(attribute.name)) break;
      const auto* field = evidence_.request.find(attribute.name);
      return field ? field->value : std::string_view{};
    }
    case Kind::query:
    case Kind::identity:
    case Kind::claim:
      break;
  }
  return hash_of(attribute);
}

bool AttributeReader::Reading::is_secret(std::string_view header) const {
  return std::ranges::any_of(reader_.secret_headers_,
                             [&](const std::string& name) { return http::iequals(name, header); });
}

std::string_view AttributeReader::Reading::hash_of(const Attribute& attribute) {
  const auto resolution =
      identity::resolve(attribute.source, evidence_, reader_.options_.identity_key, tokens_);
  if (resolution.state == identity::Resolution::State::ambiguous && !ambiguity_)
    ambiguity_ = resolution.ambiguity;
  if (resolution.state == identity::Resolution::State::invalid && !token_fault_)
    token_fault_ = resolution.token_fault;
  if (resolution.state != identity::Resolution::State::found) return {};
  return made([&] { append_hex(made_, resolution.key); });
}

}  // namespace weir::limiter
