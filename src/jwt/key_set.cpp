#include "jwt/key_set.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "jwt/token.hpp"

namespace weir::jwt {
namespace {

/// Keys have certificates (`x5c`) and members that are not known, some of them nested.
constexpr json::Limits key_set_limits{.depth = 16, .values = 64 * 1024};

/// A key ID comes from the issuer, so it is shown only if it cannot break a log line.
std::string label_of(std::size_t position, const json::Value& jwk) {
  std::string label = "key " + std::to_string(position + 1);
  const json::Value* const id = jwk.find("kid");
  const bool is_printable = id != nullptr && id->kind == json::Kind::string && !id->text.empty() &&
                            id->text.size() <= longest_key_id &&
                            std::ranges::all_of(id->text, [](char c) {
                              return c >= 0x20 && c <= 0x7e && c != '"' && c != '\\';
                            });
  return is_printable ? label + " (kid \"" + id->text + "\")" : label;
}

/// How many keys for verifying have each key ID.
std::map<std::string_view, int> count_ids(const std::vector<json::Member>& keys) {
  std::map<std::string_view, int> counts;
  for (const auto& [_, jwk] : keys) {
    const json::Value* const id = jwk.find("kid");
    if (id != nullptr && id->kind == json::Kind::string && is_for_verifying(jwk))
      ++counts[id->text];
  }
  return counts;
}

/// Reads the keys of a set in turn and keeps those that can be used.
class KeyCollector {
 public:
  KeyCollector(KeyOrigin origin, const std::vector<json::Member>& keys)
      : origin_(origin), id_counts_(count_ids(keys)) {}

  void add(std::size_t position, const json::Value& jwk) {
    const std::string label = label_of(position, jwk);
    if (jwk.kind != json::Kind::object) return report(label, "it is not an object", "is not used");
    if (!is_for_verifying(jwk))
      return report(label, "its \"use\" or \"key_ops\" is not for verifying", "is not used");
    auto key = read_key(jwk, origin_);
    if (!key) return report(label, key.error().message, "is not used");
    if (key->id && id_counts_[*key->id] > 1)
      return report(label, "another key has the same \"kid\"", "is not used");
    if (!key->id && origin_ == KeyOrigin::published)
      report(label, "it has no \"kid\"", "is used only for tokens without one");
    if (has_private_members(jwk))
      report(label, "it contains the private key, so others can make tokens",
             "is used, but should be replaced");
    keys_.push_back(std::move(*key));
  }
  void report(const std::string& label, const std::string& why, const std::string& effect) {
    problems_.push_back(label + " " + effect + ": " + why);
  }
  void report(std::string problem) { problems_.push_back(std::move(problem)); }
  ReadKeySet take() { return {KeySet(std::move(keys_)), std::move(problems_)}; }

 private:
  KeyOrigin origin_;
  std::map<std::string_view, int> id_counts_;
  std::vector<Key> keys_;
  std::vector<std::string> problems_;
};

std::string text_of_error(json::ReadError error) {
  switch (error) {
    case json::ReadError::syntax:
      return "it is not JSON";
    case json::ReadError::duplicate_member:
      return "a member name appears more than once in an object";
    case json::ReadError::too_deep:
      return "its JSON has too many levels";
    case json::ReadError::too_many_values:
      return "it has more than " + std::to_string(key_set_limits.values) + " values";
  }
  return "";
}

}  // namespace

KeySet::KeySet(std::vector<Key> keys) : keys_(std::move(keys)) {
  std::ranges::stable_sort(keys_, {}, &Key::id);
}

Result<KeySet> KeySet::of_secret(const Secret& secret) {
  auto key = secret_key(secret.reveal());
  if (!key) return key.error();
  KeySet set({std::move(*key)});
  set.accepts_any_id_ = true;
  return set;
}

KeySet KeySet::with(Key key) const {
  std::vector<Key> keys = keys_;
  keys.push_back(std::move(key));
  KeySet set(std::move(keys));
  set.accepts_any_id_ = accepts_any_id_;
  return set;
}

Candidates KeySet::candidates(const std::optional<std::string>& id, JwsAlgorithm algorithm) const {
  Candidates found{.keys = {}, .count = 0, .known = accepts_any_id_};
  if (id && !accepts_any_id_) {
    const auto key = std::ranges::lower_bound(keys_, id, {}, &Key::id);
    found.known = key != keys_.end() && key->id == id;
    if (found.known && key->fits(algorithm)) found.keys[found.count++] = &*key;
    return found;
  }
  for (const Key& key : keys_) {
    if (found.count == most_candidates) break;
    if (key.fits(algorithm)) found.keys[found.count++] = &key;
  }
  found.known = found.known || found.count > 0;
  return found;
}

Result<ReadKeySet> read_key_set(std::string_view text, KeyOrigin origin) {
  if (text.size() > largest_key_set)
    return Problem{"it is larger than " + std::to_string(largest_key_set) + " bytes"};
  const auto root = json::read(text, key_set_limits);
  if (!root) return Problem{text_of_error(root.error())};
  const json::Value* const list = root->find("keys");
  if (list == nullptr || list->kind != json::Kind::list)
    return Problem{"it is not a JWK set: an object with a list \"keys\""};
  const auto& keys = list->members;
  KeyCollector collector(origin, keys);
  for (std::size_t i = 0; i < std::min(keys.size(), most_keys); ++i)
    collector.add(i, keys[i].value);
  if (keys.size() > most_keys)
    collector.report("the keys after the first " + std::to_string(most_keys) + " are not used");
  return collector.take();
}

}  // namespace weir::jwt
