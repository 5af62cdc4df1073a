#include "config/data_files.hpp"

#include <utility>

#include "base/prefix_list.hpp"
#include "config/cursor.hpp"
#include "config/suggest.hpp"

namespace weir::config {
namespace {

constexpr std::size_t largest_address_file = 64 * 1024 * 1024;
constexpr std::size_t largest_plan_file = 256 * 1024 * 1024;

/// Reads the text, or notes in `to` why it cannot be read.
std::optional<std::string> read_data(const std::string& path, const std::string& shown,
                                     std::size_t max_bytes, Patience patience, FileContent& to) {
  Result<std::string> text = read_bounded_file(path, max_bytes, patience);
  to.is_unreadable = !text;
  if (!text) {
    to.problems = {text.error().message};
    replace_quoted(to.problems.front(), path, shown);
    return std::nullopt;
  }
  to.digest = siphash128(SipKey{}, *text);
  to.is_empty = text->empty();
  return *std::move(text);
}

/// `findings`: wrong lines and their messages, of which `omitted` more are not listed.
template <class Findings>
std::vector<std::string> described(const Findings& findings, std::size_t omitted,
                                   const std::string& shown) {
  std::vector<std::string> texts;
  const std::string file = "file " + in_quotes(shown);
  for (const auto& [line, message] : findings)
    texts.push_back(file + " line " + std::to_string(line) + ": " + message);
  if (omitted > 0) texts.push_back(file + ": and " + std::to_string(omitted) + " more lines");
  return texts;
}

}  // namespace

AddressFile read_address_file(const std::string& path, const std::string& shown,
                              Patience patience) {
  AddressFile read;
  const auto text = read_data(path, shown, largest_address_file, patience, read);
  if (!text) return read;
  PrefixList list = parse_prefix_list(*text);
  read.problems = described(list.problems, list.omitted, shown);
  if (read.problems.empty()) read.prefixes = PrefixTable(std::move(list.prefixes));
  return read;
}

KeyFileContent read_key_file(const std::string& path, const std::string& shown, Patience patience) {
  KeyFileContent read;
  const auto text = read_data(path, shown, jwt::largest_key_set, patience, read);
  if (!text) return read;
  const std::string name = "file " + in_quotes(shown) + ": ";
  auto set = jwt::read_key_set(*text, jwt::KeyOrigin::published);
  if (!set) {
    read.problems = {name + set.error().message};
    return read;
  }
  for (const std::string& problem : set->problems)
    read.warnings.push_back(name + problem);
  read.keys = std::move(set->keys);
  if (read.keys.size() == 0) {
    read.problems = std::exchange(read.warnings, {});
    read.problems.push_back(name + "it has no key that can verify a signature");
  }
  return read;
}

PlanFileContent read_plan_file(const std::string& path, const std::string& shown,
                               const limiter::PlanLineRules& rules, Patience patience) {
  PlanFileContent read;
  const auto text = read_data(path, shown, largest_plan_file, patience, read);
  if (!text) return read;
  limiter::PlanLines lines = limiter::parse_plan_lines(*text, rules);
  read.problems = described(lines.problems, lines.omitted, shown);
  read.warnings = described(lines.unknown, lines.unknown_omitted, shown);
  read.table = std::move(lines.table);
  return read;
}

std::optional<DataFile> read_data_file_name(const Cursor& in) {
  const auto text = in.text();
  if (!text) return std::nullopt;
  std::string path = resolve_path(in, *text);
  std::string shown = in.shown(path);
  const FileStamp stamp = stamp_of(path);
  return DataFile{.path = std::move(path), .shown = std::move(shown), .stamp = stamp};
}

void note_content(const Cursor& in, const FileContent& content) {
  in.note_file(content.digest);
  for (const std::string& problem : content.problems)
    in.error(problem);
  for (const std::string& warning : content.warnings)
    in.warn(warning);
}

identity::ValueOptions value_options(const Config& config) {
  return {.client = config.proxy.client_address,
          .path_ignores_case = config.proxy.path_variants.letter_case,
          .path_ignores_trailing_slash = config.proxy.path_variants.trailing_slash};
}

limiter::PlanLineRules plan_line_rules(const Config& config, std::size_t identity) {
  return {.plans = config.limiter.plans,
          .identity = config.limiter.identities[identity],
          .values = value_options(config),
          .key = config.limiter.identity_key};
}

}  // namespace weir::config
