// References to claims of tokens: `jwt: {provider: idp, claim: sub}` of an identity.
#pragma once

#include <optional>
#include <vector>

#include "config/cursor.hpp"
#include "config/table.hpp"
#include "identity/token_provider.hpp"

namespace weir::config {

/// Reads a map of `provider` and `claim`; the provider then returns the claim of each token.
void read_claim(const Cursor& in, std::vector<identity::TokenProvider>& providers,
                identity::FromClaim& to);
void list_claim(const std::string& path, KeyPaths& out);

/// Refers to a claim of a provider. Reports a claim that is empty, and more than
/// identity::claim_limit claims of one provider.
identity::FromClaim claim_of(const Cursor& in, identity::TokenProvider& provider,
                             std::size_t provider_index, std::string claim);

}  // namespace weir::config
