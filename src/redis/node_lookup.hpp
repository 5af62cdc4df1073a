// Finds the node that has a key. One for each worker; used on the loop only.
#pragma once

#include <string_view>
#include <vector>

#include "redis/hash_slot.hpp"

namespace weir::redis {

class Node;

class NodeLookup {
 public:
  /// The node that has the keys of a slot; nullptr: none is known. Valid until the loop runs again.
  virtual Node* node_at(HashSlot slot) = 0;
  /// A slot of each node that has any, to visit them all.
  virtual std::vector<HashSlot> one_slot_per_node() const = 0;

  /// An identity whose keys the node has, if it has any.
  virtual Hash128 an_identity_of(const Node& node) const = 0;

  /// The next step with a command that a node has refused because of its slot.
  struct Redirect {
    bool is_expected = false;  ///< a refusal is no error: the caller sends the command again
    Node* node = nullptr;      ///< to this node; nullptr: to the same one, a little later
    bool asking = false;       ///< after ASKING
  };
  /// `text`: of any reply. Only MOVED, ASK, TRYAGAIN and CLUSTERDOWN have an effect.
  virtual Redirect on_refused(Node& from, std::string_view text) noexcept = 0;

 protected:
  ~NodeLookup() = default;
};

}  // namespace weir::redis
