#include "app/override_key.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "base/hash_text.hpp"
#include "config/plan_file.hpp"
#include "config/suggest.hpp"
#include "identity/written_key.hpp"

namespace weir::app {
namespace {

constexpr std::string_view hash_scheme = "hash:";

/// The identity of that name; without a name the only one that limits use. nullptr: there is none.
const identity::Definition* find_identity(std::string_view name, const config::Config& config) {
  const auto& all = config.identities;
  if (!name.empty()) {
    const auto found = std::ranges::find(all, name, &identity::Definition::name);
    return found == all.end() ? nullptr : &*found;
  }
  const identity::Definition* only = nullptr;
  for (const auto& route : config.routes) {
    for (const auto& limit : route.limits) {
      for (const std::size_t used : {limit.identity, limit.otherwise.value_or(limit.identity)}) {
        if (only != nullptr && only != &all[used]) return nullptr;
        only = &all[used];
      }
    }
  }
  return only;
}

Problem no_identity(std::string_view name, const config::Config& config) {
  std::vector<std::string_view> names;
  for (const identity::Definition& one : config.identities)
    names.push_back(one.name);
  return Problem{"identity: no identity has the name " + config::in_quotes(name) +
                 config::hint(name, names)};
}

Result<OverrideKey> hashed(const OverrideOwner& written) {
  const auto hash = hash_from_hex(written.key.substr(hash_scheme.size()));
  if (!hash) return Problem{"key: a hash has 32 hexadecimal digits, as in the access log"};
  return OverrideKey{.identity = std::string(written.identity), .hash = *hash};
}

Problem no_request(const identity::Definition& identity, const config::Config& config) {
  if (std::holds_alternative<identity::FromClientAddress>(identity.source.from)) {
    return Problem{"key: expected an address, or a network with the prefix that is counted (/" +
                   std::to_string(config.client_address.ipv4_prefix) + " for IPv4, /" +
                   std::to_string(config.client_address.ipv6_prefix) + " for IPv6)"};
  }
  return Problem{"key: no request can carry this value as " + identity.name + " (" +
                 identity::describe(identity.source) + ")"};
}

/// The value has several keys: an override of one would have no effect on the others.
Problem several_keys(const identity::Definition& identity,
                     const std::vector<identity::WrittenKey>& keys) {
  const std::string fix = "; write hash:HEX of the one that is meant: `weir hash --identity " +
                          identity.name + "` prints each, and the access log has it";
  if (!std::holds_alternative<identity::FromClaim>(identity.source.from)) {
    return Problem{"key: the identity " + identity.name +
                   " reads several places, and each has its own key" + fix};
  }
  const bool is_number = keys.back().source.ends_with("(a number)");
  return Problem{"key: the claim of the identity " + identity.name + " may be a string or a " +
                 (is_number ? "number" : "boolean") + " with this value, and each has its own key" +
                 fix};
}

}  // namespace

Result<OverrideKey> find_override_key(const OverrideOwner& written, const config::Config& config) {
  if (written.key.empty())
    return Problem{"key is missing: give the value of the identity, or hash:HEX"};
  const identity::Definition* const found = find_identity(written.identity, config);
  if (found == nullptr && !written.identity.empty()) return no_identity(written.identity, config);
  if (written.key.starts_with(hash_scheme)) return hashed(written);
  if (found == nullptr)
    return Problem{"identity is missing: name the identity that the key belongs to"};
  if (!identity::has_one_value(found->source)) {
    return Problem{"key: the identity " + found->name +
                   " combines several values; write hash:HEX, as in the access log"};
  }
  const std::string_view values[] = {written.key};
  const auto keys = identity::written_keys(found->source, values, config::value_settings(config),
                                           config.identity_key);
  if (keys.empty()) return no_request(*found, config);
  if (keys.size() > 1) return several_keys(*found, keys);
  return OverrideKey{.identity = found->name, .hash = keys.front().key};
}

}  // namespace weir::app
