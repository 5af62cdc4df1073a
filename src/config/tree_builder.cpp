#include "config/tree_builder.hpp"

#include <algorithm>

#include "config/key_path.hpp"
#include "config/suggest.hpp"

namespace weir::config {

namespace {

std::size_t count_values(const Node& node) {
  std::size_t count = 1;
  for (const Node& item : node.items)
    count += count_values(item);
  for (const Entry& entry : node.entries)
    count += count_values(entry.value);
  return count;
}

std::size_t depth_of(const Node& node) {
  std::size_t deepest = 0;
  for (const Node& item : node.items)
    deepest = std::max(deepest, depth_of(item));
  for (const Entry& entry : node.entries)
    deepest = std::max(deepest, depth_of(entry.value));
  return deepest + 1;
}

[[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) {
  throw BoundExceeded(mark, message);
}

}  // namespace

Position position_of(const YAML::Mark& mark) {
  return {mark.line + 1, mark.column + 1};
}

void TreeBuilder::complain(Position position, std::string message) {
  std::string path;
  for (const Open& open : stack_) {
    if (open.node.kind == Node::Kind::sequence) {
      path = item_path(path, open.node.items.size());
    } else if (open.entry) {
      path = key_path(path, open.entry->key);
    }
  }
  problems_.push_back(diagnostic_at(position, std::move(message), std::move(path)));
}

void TreeBuilder::charge(const YAML::Mark& mark, std::size_t values) {
  values_ += values;
  if (values_ > limits_.values) {
    refuse(mark, "more than " + std::to_string(limits_.values) +
                     " values (an alias counts as all values that it refers to)");
  }
}

void TreeBuilder::refuse_tag(const YAML::Mark& mark, const std::string& tag) {
  if (tag.empty() || tag == "?" || tag == "!") return;
  complain(position_of(mark), "a tag (!...) has no meaning here; remove it");
}

void TreeBuilder::open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       Node::Kind kind) {
  refuse_tag(mark, tag);
  charge(mark, 1);
  if (stack_.size() >= limits_.depth) {
    refuse(mark, "nested deeper than " + std::to_string(limits_.depth) + " levels");
  }
  Open opened;
  opened.node.kind = kind;
  opened.node.position = position_of(mark);
  opened.mark = mark;
  opened.anchor = anchor;
  stack_.push_back(std::move(opened));
}

void TreeBuilder::close() {
  Open closed = std::move(stack_.back());
  stack_.pop_back();
  if (closed.anchor != 0) {
    charge(closed.mark, count_values(closed.node));
    anchored_[closed.anchor] = closed.node;
  }
  attach(std::move(closed.node));
}

void TreeBuilder::add_leaf(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
  charge(mark, 1);
  if (anchor != 0) anchored_[anchor] = node;
  attach(std::move(node));
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  refuse_tag(mark, tag);
  Node node;
  node.kind = Node::Kind::scalar;
  node.position = last_scalar_ = position_of(mark);
  node.text = value;
  node.is_plain = tag != "!";  // what yaml-cpp passes for a quoted scalar or a block of text
  unmask_braces(node.text);
  add_leaf(mark, anchor, std::move(node));
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto target = anchored_.find(anchor);
  if (target == anchored_.end()) refuse(mark, "an alias inside the value that it refers to");
  charge(mark, count_values(target->second));
  if (stack_.size() + depth_of(target->second) > limits_.depth + 1) {
    refuse(mark, "nested deeper than " + std::to_string(limits_.depth) + " levels");
  }
  Node copy = target->second;
  copy.position = position_of(mark);
  attach(std::move(copy));
}

void TreeBuilder::attach(Node node) {
  if (stack_.empty()) {
    root_ = std::move(node);
    return;
  }
  Open& parent = stack_.back();
  if (parent.node.kind == Node::Kind::sequence) {
    parent.node.items.push_back(std::move(node));
  } else if (std::exchange(parent.expects_key, !parent.expects_key)) {
    take_key(parent, node);
  } else {
    take_value(parent, std::move(node));
  }
}

void TreeBuilder::take_key(Open& map, const Node& node) {
  if (node.kind != Node::Kind::scalar) {
    return complain(node.position, "a key must be plain text; put quotes around text with braces");
  }
  const auto [first, is_new] = map.lines.emplace(node.text, node.position.line);
  if (!is_new) {
    return complain(node.position, "duplicate key " + in_quotes(node.text) +
                                       "; it is already on line " + std::to_string(first->second) +
                                       "; keep one, with all that belongs to it");
  }
  map.entry = Entry{.key = node.text, .position = node.position, .value = {}};
}

void TreeBuilder::take_value(Open& map, Node node) {
  if (!map.entry) return;
  map.entry->value = std::move(node);
  // The position of a missing value is that of its key.
  if (map.entry->value.kind == Node::Kind::null) map.entry->value.position = map.entry->position;
  map.node.entries.push_back(*std::move(map.entry));
  map.entry.reset();
}

}  // namespace weir::config
