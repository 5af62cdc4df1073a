#include "identity/written_key.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "identity/serialisation.hpp"
#include "json/read.hpp"
#include "jwt/decimal.hpp"

namespace weir::identity {
namespace {

/// The kinds that a claim written as this text can have.
std::vector<jwt::Claim> claims_written(std::string_view text) {
  std::vector<jwt::Claim> claims{{.kind = jwt::ClaimKind::text, .text = std::string(text)}};
  const auto root = json::read(text, {});
  if (!root) return claims;
  if (root->kind == json::Kind::number)
    claims.push_back({.kind = jwt::ClaimKind::number,
                      .text = jwt::canonical_text(jwt::read_decimal(root->text))});
  if (root->kind == json::Kind::boolean)
    claims.push_back({.kind = jwt::ClaimKind::boolean, .text = root->text});
  return claims;
}

/// Counts through every combination of choices that a walk takes.
class Choices {
 public:
  /// The index of the choice that this walk takes, below `count`.
  std::size_t take(std::size_t count) {
    if (next_ == taken_.size()) taken_.push_back({.index = 0, .count = count});
    return taken_[next_++].index;
  }
  /// Prepares the next walk. Returns false if there is none.
  bool advance() {
    taken_.resize(std::exchange(next_, 0));
    while (!taken_.empty() && ++taken_.back().index == taken_.back().count)
      taken_.pop_back();
    return !taken_.empty();
  }

 private:
  struct Taken {
    std::size_t index;
    std::size_t count;
  };
  std::vector<Taken> taken_;
  std::size_t next_ = 0;
};

/// Appends values that are written as texts, in the order of the sources that take them.
class FormWriter {
 public:
  FormWriter(std::span<const std::string_view> values, const ValueOptions& options,
             Choices& choices)
      : values_(values), options_(options), choices_(choices) {}

  /// Returns the key, if every value is taken and can occur there.
  std::optional<WrittenKey> write(const Source& source, SipKey key) {
    if (!append(source) || !values_.empty()) return std::nullopt;
    return WrittenKey{.key = siphash128(key, out_.view()), .source = std::move(sources_)};
  }

 private:
  bool append(const Source& source) {
    if (const auto* const any = std::get_if<AnyOf>(&source.from))
      return append(any->sources[choices_.take(any->sources.size())]);
    if (const auto* const all = std::get_if<AllOf>(&source.from)) {
      out_.tag(Tag::all_of);
      out_.count(all->sources.size());
      return std::ranges::all_of(all->sources, [this](const Source& one) { return append(one); });
    }
    if (values_.empty()) return false;
    const std::string_view value = values_.front();
    values_ = values_.subspan(1);
    sources_.append(sources_.empty() ? "" : " + ").append(describe(source));
    const auto* const claim = std::get_if<FromClaim>(&source.from);
    return claim == nullptr ? std::visit(ValueWriter(value, options_, out_), source.from)
                            : append_claim(*claim, value);
  }
  bool append_claim(const FromClaim& from, std::string_view value) {
    if (value.empty()) return false;
    const auto claims = claims_written(value);
    const jwt::Claim& claim = claims[choices_.take(claims.size())];
    if (claim.kind == jwt::ClaimKind::number) sources_ += " (a number)";
    if (claim.kind == jwt::ClaimKind::boolean) sources_ += " (a boolean)";
    return out_.part_claim(from.provider, from.claim, claim);
  }

  std::span<const std::string_view> values_;  ///< not taken yet
  const ValueOptions& options_;
  Choices& choices_;
  Serialisation out_;
  std::string sources_;
};

constexpr std::size_t most_forms = 256;

}  // namespace

std::vector<WrittenKey> written_keys(const Source& source, std::span<const std::string_view> values,
                                     const ValueOptions& options, SipKey key) {
  std::vector<WrittenKey> keys;
  Choices choices;
  std::size_t forms = 0;
  do {
    auto written = FormWriter(values, options, choices).write(source, key);
    if (written) keys.push_back(*std::move(written));
  } while (choices.advance() && ++forms < most_forms);
  return keys;
}

}  // namespace weir::identity
