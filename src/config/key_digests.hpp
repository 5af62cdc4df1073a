// Digests of the values of a configuration file, by key, to find out which of them a reload
// changes. Pure.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/siphash.hpp"
#include "config/expand.hpp"
#include "options/proxy.hpp"

namespace weir::config {

struct Node;

/// Digests of the contents of files, by the scalar that names the file.
using FileDigests = std::unordered_map<const Node*, Hash128>;

struct KeyDigest {
  /// A section, or an entry of a section with named entries, such as `listen`, `store.redis`,
  /// `policies.per_client`, `routes.search`.
  std::string key;
  /// Covers the value with its variables replaced and the contents of its files. Neither spaces
  /// nor the order of keys matter.
  Hash128 digest;
};

/// In the order of the file, each key once.
using KeyDigests = std::vector<KeyDigest>;

/// `root` is the tree of a file that has no problem, and `routes` are its routes. Without the keys
/// that need a restart: workers, identity_secret, store.type.
KeyDigests key_digests(const Node& root, const std::vector<options::Route>& routes,
                       const Variables& variables, const FileDigests& files);

/// The keys whose values differ: first those of `after`, then those that only `before` has, then
/// `routes` if only the order of the routes differs.
std::vector<std::string> changed_keys(const KeyDigests& before, const KeyDigests& after);

}  // namespace weir::config
