// `address_lists`: sets of addresses for routes and for the conditions of limits.
#include <utility>

#include "config/data_files.hpp"
#include "config/hints.hpp"
#include "config/sections.hpp"

namespace weir::config {

namespace {

constexpr std::size_t most_lists = 1000;
constexpr std::size_t most_inline = 100'000;

PrefixTable read_inline(const Cursor& in) {
  std::vector<IpPrefix> prefixes;
  if (in.node().items.empty()) return {};
  for_each_item(in, "a list of prefixes, such as [10.0.0.0/8]", most_inline,
                [&](const Cursor& item) {
                  if (const auto prefix = read_prefix(item)) prefixes.push_back(*prefix);
                });
  return PrefixTable(std::move(prefixes));
}

struct FileDraft {
  DataFile file;
  PrefixTable prefixes;
};

void read_file(const Cursor& in, FileDraft& to) {
  auto file = read_data_file_name(in);
  if (!file) return;
  to.file = *std::move(file);
  if (!in.environment().reads_data_files) return;
  AddressFile read = read_address_file(to.file.path, to.file.shown);
  note_content(in, read);
  to.prefixes = std::move(read.prefixes);
}

constexpr Key<FileDraft> file_keys[] = {
    {.name = "file", .read = read_file, .required = true},
};

void read_list(const std::string& name, const Cursor& in, Config& to) {
  if (in.node().kind == Node::Kind::sequence) {
    to.limiter.address_lists.emplace_back(name, read_inline(in));
  } else if (in.is_map()) {
    FileDraft draft;
    read_table(in, file_keys, draft);
    AddressList& list = to.limiter.address_lists.emplace_back(name, std::move(draft.prefixes));
    to.list_files.push_back({std::move(draft.file), list});
  } else {
    in.error("expected a list of prefixes, such as [10.0.0.0/8], or {file: NAME}");
  }
}

}  // namespace

std::optional<IpPrefix> read_prefix(const Cursor& in) {
  const auto text = in.text();
  if (!text) return std::nullopt;
  auto prefix = IpPrefix::parse(*text);
  if (!prefix)
    in.error_showing(
        "expected an address or a prefix whose host bits are zero, such as 10.0.0.0/8 or "
        "2001:db8::/32",
        prefix_hint(in.node().text));
  return prefix;
}

void read_address_lists(const Cursor& in, Config& to) {
  for_each_named(in, "a map of names to lists of addresses", most_lists,
                 [&](const std::string& name, const Cursor& entry) { read_list(name, entry, to); });
}
}  // namespace weir::config
