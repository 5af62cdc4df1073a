#include "config/document.hpp"

#include <algorithm>
#include <istream>
#include <map>
#include <streambuf>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "config/document_text.hpp"
#include "config/suggest.hpp"

namespace weir::config {

namespace {

Position position_of(const YAML::Mark& mark) {
  return {mark.line + 1, mark.column + 1};
}

Diagnostic diagnostic_at(Position position, std::string message) {
  return {.line = position.line,
          .column = position.column,
          .key_path = {},
          .message = std::move(message)};
}

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

/// Has to pass through yaml-cpp's parser, as its own exceptions do.
class BoundExceeded : public YAML::ParserException {
 public:
  using ParserException::ParserException;
};

/// Assembles nodes from events. A collection stays on the stack until its end event.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const DocumentLimits& limits, std::vector<Diagnostic>& problems)
      : limits_(limits), problems_(problems) {}

  std::optional<Node> take_root() { return std::exchange(root_, std::nullopt); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add_leaf(mark, anchor,
             {.kind = Node::Kind::null,
              .position = position_of(mark),
              .text = {},
              .items = {},
              .entries = {}});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark, tag);
    add_leaf(mark, anchor,
             {.kind = Node::Kind::scalar,
              .position = position_of(mark),
              .text = value,
              .items = {},
              .entries = {}});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    bool expects_key = true;           ///< map: the next value is a key
    std::optional<Entry> entry;        ///< map: the key read, until its value is whole
    std::map<std::string, int> lines;  ///< map: where each key was first seen
  };

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind);
  void close();
  void add_leaf(const YAML::Mark& mark, YAML::anchor_t anchor, Node node);
  void attach(Node node);
  void take_key(Open& map, const Node& node);
  void take_value(Open& map, Node node);
  void refuse_tag(const YAML::Mark& mark, const std::string& tag);
  void charge(const YAML::Mark& mark, std::size_t values);

  const DocumentLimits& limits_;
  std::vector<Diagnostic>& problems_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, Node> anchored_;
  std::size_t values_ = 0;
  std::optional<Node> root_;
};

[[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) {
  throw BoundExceeded(mark, message);
}

void TreeBuilder::charge(const YAML::Mark& mark, std::size_t values) {
  values_ += values;
  if (values_ > limits_.values) {
    refuse(mark, "more than " + std::to_string(limits_.values) +
                     " values (an alias counts as all it stands for)");
  }
}

void TreeBuilder::refuse_tag(const YAML::Mark& mark, const std::string& tag) {
  if (tag.empty() || tag == "?" || tag == "!") return;
  problems_.push_back(
      diagnostic_at(position_of(mark), "a tag (!...) means nothing here; remove it"));
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

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto target = anchored_.find(anchor);
  if (target == anchored_.end()) refuse(mark, "an alias inside the value it stands for");
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
    problems_.push_back(diagnostic_at(node.position, "a key must be plain text"));
    map.entry.reset();
    return;
  }
  const auto [first, is_new] = map.lines.emplace(node.text, node.position.line);
  if (!is_new) {
    problems_.push_back(diagnostic_at(node.position, "duplicate key " + in_quotes(node.text) +
                                                         "; it is already on line " +
                                                         std::to_string(first->second)));
    map.entry.reset();
    return;
  }
  map.entry = Entry{.key = node.text, .position = node.position, .value = {}};
}

void TreeBuilder::take_value(Open& map, Node node) {
  if (!map.entry) return;
  map.entry->value = std::move(node);
  // A missing value has no place of its own worth showing.
  if (map.entry->value.kind == Node::Kind::null) map.entry->value.position = map.entry->position;
  map.node.entries.push_back(*std::move(map.entry));
  map.entry.reset();
}

/// Reads a string_view without the copy an istringstream makes.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());
    setg(begin, begin, begin + text.size());
  }
};

// Only the fixed part of yaml-cpp's message: what it may append is text of the file.
Diagnostic syntax_error(const YAML::Exception& error) {
  std::string message = error.msg.substr(0, error.msg.find(": "));
  if (message == YAML::ErrorMsg::UNKNOWN_ANCHOR) {
    message = "no such anchor (a value that begins with * must be quoted)";
  }
  if (error.mark.is_null()) return diagnostic_at({}, "not valid YAML: " + message);
  return diagnostic_at(position_of(error.mark), "not valid YAML: " + message);
}

}  // namespace

const Entry* Node::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

std::optional<Node> parse_document(std::string_view yaml, std::vector<Diagnostic>& problems,
                                   const DocumentLimits& limits) {
  if (yaml.size() > limits.bytes) {
    problems.push_back(diagnostic_at({}, "larger than " + std::to_string(limits.bytes) + " bytes"));
    return std::nullopt;
  }
  if (std::optional<Diagnostic> bad = find_bad_byte(yaml)) {
    problems.push_back(*std::move(bad));
    return std::nullopt;
  }
  ViewBuffer buffer(yaml);
  std::istream stream(&buffer);
  TreeBuilder builder(limits, problems);
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    std::optional<Node> root = builder.take_root();
    if (root && parser.HandleNextDocument(builder)) {
      problems.push_back(diagnostic_at(builder.take_root().value_or(Node{}).position,
                                       "a second document (---) in the file; one is read"));
    }
    return root;
  } catch (const BoundExceeded& error) {
    problems.push_back(diagnostic_at(position_of(error.mark), error.msg));
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    problems.push_back(syntax_error(error));
    return std::nullopt;
  }
}

}  // namespace weir::config
