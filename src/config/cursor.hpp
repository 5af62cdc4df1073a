// A position in the configuration while it is read: the value, its key path, and the problems
// found.
//
// A reader that finds a wrong value reports it and leaves its target unchanged, so that one load
// finds every problem. Messages show a value only as written in the file, never with variables
// replaced, and never one that may be a secret.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.hpp"
#include "base/time.hpp"
#include "config/document.hpp"
#include "config/key_digests.hpp"
#include "config/key_path.hpp"
#include "config/load.hpp"
#include "config/suggest.hpp"
#include "config/written.hpp"

namespace weir::config {

/// The state of one load.
struct Loading {
  const Environment& environment;
  Written written;
  FileDigests files;
  std::set<const Node*> secrets;  ///< scalars
  std::vector<Diagnostic> problems;
  std::vector<Diagnostic> warnings;
};

/// Problems beyond this number are counted and not shown.
inline constexpr std::size_t shown_problems = 100;

struct IntegerRange {
  std::int64_t min;
  std::int64_t max;
};
struct DurationRange {
  Duration min;
  Duration max;
};

/// The range of costs and other counts that a Redis script stores exactly in a double.
inline constexpr std::int64_t largest_exact = std::int64_t{1} << 53;

class Cursor {
 public:
  Cursor(Loading& loading, const Node& node, std::string path)
      : loading_(loading), node_(node), path_(std::move(path)) {}

  const Node& node() const { return node_; }
  const std::string& path() const { return path_; }
  bool is_map() const { return node_.kind == Node::Kind::map; }
  bool is_empty_list() const { return node_.kind == Node::Kind::sequence && node_.items.empty(); }

  Cursor at(const Entry& entry) const;
  Cursor at(std::size_t index) const;
  /// Returns the value of `key`, or this value if the key is absent: the place to report a problem
  /// with either.
  Cursor at_key(std::string_view key) const;
  bool has(std::string_view key) const { return node_.find(key) != nullptr; }

  /// True while there are few problems: in a file with many the search for similar names takes
  /// longer than all other work.
  bool has_few_problems() const { return loading_.problems.size() < shown_problems; }

  void error(std::string message) const;
  void error_at(Position position, std::string message) const;
  void warn(std::string message) const;
  /// Reports `message (here "as written")`: only for values that are not secret.
  /// With `hint`, or where that is empty with variable_hint().
  void error_showing(std::string message, std::string_view hint = {}) const;
  /// Returns the message with the file name of this value as written, if it has variables: their
  /// content may be a secret that was put into the wrong place.
  std::string as_written(std::string message, const std::string& file) const;

  /// Returns `value`, which was read from this scalar, or the scalar as written if it has a
  /// variable.
  std::string shown(std::string value) const;
  /// Prints the values read so far: from the root of the file, and from this value.
  Shown shown_root() const { return Shown(loading_.written); }
  Shown shown_here() const { return Shown(loading_.written, path_); }
  /// Notes that this scalar is a secret. `is_elsewhere`: in a variable or a file.
  void note_secret(bool is_elsewhere) const {
    loading_.secrets.insert(&node_);
    if (is_elsewhere) loading_.written.add(path_, node_.text);
  }
  /// Adds the content of the file that this scalar names to the digest of the scalar.
  void note_file(const Hash128& content) const { loading_.files.insert_or_assign(&node_, content); }
  /// The absent key `key` of this map takes its value from the key at `path`, and is shown like it.
  void inherit(std::string_view key, const std::string& path) const {
    loading_.written.inherit(key_path(path_, key), path);
  }

  /// True if the value is a map; else reports it, with an example of the map or with its keys.
  bool expect_map(std::string_view what, std::span<const std::string_view> keys = {}) const;
  bool expect_sequence(std::string_view what) const;
  /// Returns the scalar with variables replaced, and notes one with a variable.
  std::optional<std::string> text() const;
  /// The same for a secret, which is not noted.
  std::optional<std::string> expanded() const;
  const Environment& environment() const { return loading_.environment; }

 private:
  Loading& loading_;
  const Node& node_;
  std::string path_;
};

/// The shape of the path, or of a key of this map, as hints name it.
std::string shape_at(const Cursor& in, std::string_view key = {});
/// True for `off` and `false`.
bool is_off(const Cursor& in);
void read_text(const Cursor& in, std::string& to);
/// Returns the text if it has the form; else reports `expected`, and the text as written.
std::optional<std::string> read_form(const Cursor& in, bool (*has_form)(std::string_view text),
                                     std::string_view expected);
void read_flag(const Cursor& in, bool& to);
/// Reads a share from 0 to 1.
void read_share(const Cursor& in, double& to);
std::optional<std::int64_t> read_integer(const Cursor& in, IntegerRange range);
/// Returns `automatic` for the word auto.
std::optional<std::int64_t> read_integer_or_auto(const Cursor& in, IntegerRange range,
                                                 std::int64_t automatic);
std::optional<std::int64_t> read_size(const Cursor& in, IntegerRange range);
void read_duration(const Cursor& in, Duration& to, DurationRange range);
/// Reads the text, or for `file:PATH` the content of the file without its last newline. Returns
/// false after a problem.
bool read_secret(const Cursor& in, Secret& to);
/// Reads a file name; relative ones are resolved against the configuration's directory.
std::string resolve_path(const Cursor& in, std::string_view path);

template <class Integer>
void read_integer_into(const Cursor& in, Integer& to, IntegerRange range) {
  if (const auto value = read_integer(in, range)) to = static_cast<Integer>(*value);
}
template <class Integer>
void read_size_into(const Cursor& in, Integer& to, IntegerRange range) {
  if (const auto value = read_size(in, range)) to = static_cast<Integer>(*value);
}

/// Returns the index of the word written, or nothing after reporting the words that are possible.
std::optional<std::size_t> read_word(const Cursor& in, std::span<const std::string_view> words);

template <class Value, std::size_t N>
void read_choice(const Cursor& in, Value& to,
                 const std::pair<std::string_view, Value> (&choices)[N]) {
  std::vector<std::string_view> words;
  for (const auto& [word, value] : choices)
    words.push_back(word);
  if (const auto index = read_word(in, words)) to = choices[*index].second;
}

/// Calls `visit(item)` for each item of a list that is not empty and has at most `max` items.
template <class Visit>
void for_each_item(const Cursor& in, std::string_view what, std::size_t max, Visit&& visit) {
  if (!in.expect_sequence(what)) return;
  const std::size_t count = in.node().items.size();
  if (count > max) in.error("more than " + std::to_string(max) + " entries");
  for (std::size_t i = 0; i < count && i < max; ++i)
    visit(in.at(i));
}

/// Reports a name that is not printable ASCII.
void check_name(const Cursor& in, std::string_view name);

/// Calls `visit(name, entry)` for each entry of a map, and checks its name.
template <class Visit>
void for_each_named(const Cursor& in, std::string_view what, std::size_t max, Visit&& visit) {
  if (!in.expect_map(what)) return;
  const std::vector<Entry>& entries = in.node().entries;
  if (entries.size() > max) in.error("more than " + std::to_string(max) + " entries");
  for (std::size_t i = 0; i < entries.size() && i < max; ++i) {
    const Cursor entry = in.at(entries[i]);
    check_name(entry, entries[i].key);
    visit(entries[i].key, entry);
  }
}

/// `written` is looked up, `shown` is the text in the file.
struct Reference {
  std::string_view what;  ///< the singular for the message: "policy"
  std::string_view written;
  std::string_view shown;
};
std::optional<std::size_t> find_among(const Cursor& in, const Reference& reference,
                                      std::span<const std::string_view> names);

template <class Named>
std::optional<std::size_t> find_named(const Cursor& in, const Reference& reference,
                                      const std::vector<Named>& all) {
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const Named& one : all)
    names.push_back(one.name);
  return find_among(in, reference, names);
}

template <class Named>
std::optional<std::size_t> read_reference(const Cursor& in, std::string_view what,
                                          const std::vector<Named>& all) {
  const auto written = in.text();
  if (!written) return std::nullopt;
  return find_named(in, {.what = what, .written = *written, .shown = in.node().text}, all);
}

}  // namespace weir::config
