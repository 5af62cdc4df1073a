// Assembles the tree of document.hpp from yaml-cpp's events, within its limits.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>

#include "config/diagnostic.hpp"
#include "config/document.hpp"

namespace weir::config {

/// The first byte that is not printable UTF-8 text (YAML 1.2.2 section 5.1), if there is one.
/// yaml-cpp does not refuse them: it replaces invalid UTF-8 and reads a byte 0x04 as the end of the
/// file.
std::optional<Diagnostic> find_bad_byte(std::string_view text);

/// Replaces the braces of every `${...}` and `/{name}` that close on their line by bytes that are
/// not UTF-8. `text` must be UTF-8.
std::string mask_braces(std::string_view text);

/// Restores the braces in a scalar that the YAML parser returned. No YAML escape yields one of
/// those bytes.
void unmask_braces(std::string& scalar);

/// yaml-cpp counts from 0.
Position position_of(const YAML::Mark& mark);

/// Thrown through yaml-cpp's parser, like its own exceptions.
class BoundExceeded : public YAML::ParserException {
 public:
  using ParserException::ParserException;
};

/// Assembles nodes from events. A collection stays on the stack until its end event.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const DocumentLimits& limits, std::vector<Diagnostic>& problems)
      : limits_(limits), problems_(problems) {}

  /// The position of the last scalar so far; the start of the file before the first.
  Position last_scalar() const { return last_scalar_; }
  /// The position of the innermost collection that has no end yet.
  std::optional<Position> open_position() const {
    return stack_.empty() ? std::nullopt : std::optional(stack_.back().node.position);
  }
  std::optional<Node> take_root() { return std::exchange(root_, std::nullopt); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add_leaf(mark, anchor,
             {.kind = Node::Kind::null,
              .position = position_of(mark),
              .text = {},
              .is_plain = true,
              .items = {},
              .entries = {}});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
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
    bool expects_key = true;     ///< map: the next node is a key
    std::optional<Entry> entry;  ///< map: the key read, until its value is whole; none if refused
    std::map<std::string, int> lines;  ///< map: the line where each key appeared first
  };

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Node::Kind kind);
  void close();
  void add_leaf(const YAML::Mark& mark, YAML::anchor_t anchor, Node node);
  void attach(Node node);
  void take_key(Open& map, const Node& node);
  void take_value(Open& map, Node node);
  void refuse_tag(const YAML::Mark& mark, const std::string& tag);
  void complain(Position position, std::string message);
  void charge(const YAML::Mark& mark, std::size_t values);

  const DocumentLimits& limits_;
  std::vector<Diagnostic>& problems_;
  Position last_scalar_{.line = 1, .column = 1};
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, Node> anchored_;
  std::size_t values_ = 0;
  std::optional<Node> root_;
};

}  // namespace weir::config
