#include "limiter/attribute_texts.hpp"

#include <algorithm>
#include <variant>

#include "http/request_view.hpp"

namespace weir::limiter {
namespace {

// The longest text made here: an IPv6 address, 39 characters, or 32 digits of a hash.
constexpr std::size_t made_text_size = 40;

void collect_headers(const identity::Source& source, std::vector<std::string>& names) {
  identity::each_part(source, [&](const identity::Source& part) {
    if (const auto* header = std::get_if<identity::FromHeader>(&part.from))
      names.push_back(header->name);
    if (std::holds_alternative<identity::FromCookie>(part.from)) names.emplace_back("cookie");
  });
}

}  // namespace

AttributeTexts::AttributeTexts(const Settings& config) : config_(config) {
  // Credentials are secret whether or not an identity reads them.
  secret_headers_ = {"authorization", "proxy-authorization", "cookie"};
  for (const auto& identity : config.identities)
    collect_headers(identity.source, secret_headers_);
  made_.reserve(views_.size() * made_text_size);
}

void AttributeTexts::clear() {
  used_ = 0;
  made_.clear();
  ambiguity_.reset();
}

std::span<const std::string_view> AttributeTexts::of(std::size_t policy,
                                                     const identity::Evidence& evidence) {
  const std::size_t first = used_;
  const std::size_t made_before = made_.size();
  ambiguity_.reset();
  for (const auto& attribute : config_.policies[policy].attributes) {
    views_[used_++] = text_of(attribute, evidence);
  }
  if (ambiguity_) {
    used_ = first;
    made_.resize(made_before);
  }
  return std::span(views_).subspan(first, used_ - first);
}

std::string_view AttributeTexts::text_of(const Attribute& attribute,
                                         const identity::Evidence& evidence) {
  using Kind = Attribute::Kind;
  switch (attribute.kind) {
    case Kind::method:
      return evidence.request.method;
    case Kind::path:
      return evidence.path;
    case Kind::client_address: {
      const std::size_t start = made_.size();
      made_ += evidence.client.text();
      return std::string_view(made_).substr(start);
    }
    case Kind::header: {
      const bool secret = std::ranges::any_of(secret_headers_, [&](const std::string& name) {
        return http::iequals(name, attribute.name);
      });
      if (secret) break;
      const auto* field = evidence.request.find(attribute.name);
      return field ? field->value : std::string_view{};
    }
    case Kind::query:
    case Kind::identity:
      break;
  }
  return hash_of(attribute, evidence);
}

std::string_view AttributeTexts::hash_of(const Attribute& attribute,
                                         const identity::Evidence& evidence) {
  const auto resolution = identity::resolve(attribute.source, evidence, config_.identity_key);
  if (resolution.state == identity::Resolution::State::ambiguous && !ambiguity_)
    ambiguity_ = resolution.ambiguity;
  if (resolution.state != identity::Resolution::State::found) return {};
  const std::size_t start = made_.size();
  append_hex(made_, resolution.key);
  return std::string_view(made_).substr(start);
}

}  // namespace weir::limiter
