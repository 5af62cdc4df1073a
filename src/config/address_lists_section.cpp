// `address_lists`: sets of addresses for routes and for the conditions of limits.
#include <utility>

#include "config/address_file.hpp"
#include "config/advice.hpp"
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
                  const auto text = item.text();
                  if (!text) return;
                  if (const auto prefix = IpPrefix::parse(*text)) {
                    prefixes.push_back(*prefix);
                  } else {
                    item.error_showing(
                        "expected an address or a prefix whose host bits are zero, such as "
                        "10.0.0.0/8 or 2001:db8::/32",
                        prefix_advice(item.node().text));
                  }
                });
  return PrefixTable(std::move(prefixes));
}

struct FileDraft {
  std::string path;
  std::string shown;
  FileStamp stamp;
  PrefixTable prefixes;
};

void read_file(const Cursor& in, FileDraft& to) {
  const auto text = in.text();
  if (!text) return;
  to.path = resolve_path(in, *text);
  to.shown = in.shown(to.path);
  to.stamp = stamp_of(to.path);
  if (!in.environment().reads_data_files) return;
  AddressFile read = read_address_file(to.path, to.shown);
  to.prefixes = std::move(read.prefixes);
  for (const std::string& problem : read.problems)
    in.error(problem);
}

constexpr Key<FileDraft> file_keys[] = {
    {.name = "file", .read = read_file, .required = true},
};

void read_list(const std::string& name, const Cursor& in, Config& to) {
  if (in.node().kind == Node::Kind::sequence) {
    to.address_lists.emplace_back(name, read_inline(in));
  } else if (in.node().kind == Node::Kind::map) {
    FileDraft draft;
    read_table(in, file_keys, draft);
    AddressList& list = to.address_lists.emplace_back(name, std::move(draft.prefixes));
    to.list_files.push_back(
        {.list = list, .path = draft.path, .shown = draft.shown, .stamp = draft.stamp});
  } else {
    in.error("expected a list of prefixes, such as [10.0.0.0/8], or {file: NAME}");
  }
}

}  // namespace

void read_address_lists(const Cursor& in, Config& to) {
  for_each_named(in, "a map of names to lists of addresses", most_lists,
                 [&](const std::string& name, const Cursor& entry) { read_list(name, entry, to); });
}
void list_address_lists(const std::string& path, KeyPaths& out) {
  list_named<file_keys>(path, out);
}

}  // namespace weir::config
