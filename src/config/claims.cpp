#include <algorithm>
#include <utility>

#include "config/sections.hpp"

namespace weir::config {
namespace {

struct ClaimDraft {
  const std::vector<identity::TokenProvider>& providers;
  std::optional<std::size_t> provider{};
  std::string claim{};
};

constexpr Key<ClaimDraft> claim_keys[] = {
    {.name = "provider",
     .read = [](const Cursor& in,
                ClaimDraft& to) { to.provider = read_reference(in, "JWT provider", to.providers); },
     .required = true},
    {.name = "claim", .read = read::text<&ClaimDraft::claim>, .required = true},
};

}  // namespace

void read_claim(const Cursor& in, std::vector<identity::TokenProvider>& providers,
                identity::FromClaim& to) {
  ClaimDraft draft{.providers = providers};
  read_table(in, claim_keys, draft);
  if (!draft.provider || !in.has("claim")) return;
  to = claim_of(in.at_key("claim"), providers[*draft.provider], *draft.provider,
                std::move(draft.claim));
}
identity::FromClaim claim_of(const Cursor& in, identity::TokenProvider& provider,
                             std::size_t provider_index, std::string claim) {
  auto& claims = provider.rules.claims;
  const auto known = std::find(claims.begin(), claims.end(), claim);
  const auto index = static_cast<std::size_t>(known - claims.begin());
  if (claim.empty()) in.error("expected the name of a claim, such as sub");
  if (index == identity::claim_limit)
    in.error("more than " + std::to_string(identity::claim_limit) +
             " different claims of one provider");
  if (known == claims.end()) {
    claims.push_back(claim);
    provider.shown_claims.push_back(in.shown(claim));
  }
  return {.provider = provider.name,
          .claim = std::move(claim),
          .token = provider.place,
          .provider_index = provider_index,
          .claim_index = index};
}

}  // namespace weir::config
