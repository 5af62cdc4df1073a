#include "config/key_file.hpp"

#include <utility>

#include "config/suggest.hpp"

namespace weir::config {

KeyFileContent read_key_file(const std::string& path, const std::string& shown, Patience patience) {
  KeyFileContent content;
  const std::string name = "file " + in_quotes(shown) + ": ";
  const Result<std::string> text = read_bounded_file(path, jwt::largest_key_set, patience);
  if (!text) {
    std::string message = text.error().message;
    const std::string quoted = in_quotes(path);
    if (const auto at = message.find(quoted); at != std::string::npos)
      message.replace(at, quoted.size(), in_quotes(shown));
    content.problems.push_back(std::move(message));
    content.is_unreadable = true;
    return content;
  }
  auto read = jwt::read_key_set(*text, jwt::KeyOrigin::published);
  if (!read) {
    content.problems.push_back(name + read.error().message);
    return content;
  }
  for (const std::string& problem : read->problems)
    content.warnings.push_back(name + problem);
  content.keys = std::move(read->keys);
  if (content.keys.size() == 0) {
    content.problems = std::exchange(content.warnings, {});
    content.problems.push_back(name + "it has no key that can verify a signature");
  }
  return content;
}

void read_key_file(const Cursor& in, identity::TokenProvider& provider, Config& to) {
  const auto text = in.text();
  if (!text) return;
  KeyFile file{.provider = provider.name,
               .state = provider.state,
               .path = resolve_path(in, *text),
               .shown = {},
               .stamp = {}};
  file.shown = in.shown(file.path);
  file.stamp = stamp_of(file.path);
  provider.keys_from.file = file.path;
  if (!in.environment().reads_data_files) return;
  KeyFileContent content = read_key_file(file.path, file.shown);
  for (const std::string& problem : content.problems)
    in.error(problem);
  for (const std::string& warning : content.warnings)
    in.warn(warning);
  provider.state->keys.publish(std::make_shared<const jwt::KeySet>(std::move(content.keys)));
  to.key_files.push_back(std::move(file));
}

}  // namespace weir::config
