#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/imported_limits.hpp"
#include "config/document.hpp"
#include "config/files.hpp"
#include "config/limit_file.hpp"
#include "config/suggest.hpp"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;

bool is_yaml_file(const fs::directory_entry& entry) {
  const fs::path extension = entry.path().extension();
  return entry.is_regular_file() && !entry.path().filename().string().starts_with('.') &&
         (extension == ".yaml" || extension == ".yml");
}

/// The path itself, or the files in the directory, in the order of their names.
std::vector<std::string> files_at(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
    if (is_yaml_file(entry)) files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

std::vector<config::Diagnostic> problem(std::string message) {
  return {config::diagnostic_at({}, std::move(message))};
}

class Import {
 public:
  int run(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      const auto files = files_at(path);
      if (files.empty()) report(path, problem("no file ends with .yaml or .yml"));
      for (const std::string& file : files)
        read(file);
    }
    if (has_problem_) return refused;
    const ImportedLimits imported = imported_limits(contents_);
    std::cout << imported.yaml;
    return report_losses(imported.losses);
  }

 private:
  void report(const std::string& file, const std::vector<config::Diagnostic>& problems) {
    has_problem_ = has_problem_ || !problems.empty();
    print_diagnostics(std::cerr, file, problems);
  }

  /// A script that goes on with fewer limits than the files have must see it.
  int report_losses(const std::vector<ImportLoss>& losses) const {
    std::size_t limits = 0;
    for (const ImportLoss& loss : losses) {
      print_diagnostics(std::cerr, files_[loss.file], {&loss.reason, 1},
                        loss.is_limit ? "" : "warning: ");
      limits += loss.is_limit ? 1 : 0;
    }
    if (limits == 0) return succeeded;
    std::cerr << "weir import: " << limits << (limits == 1 ? " limit is" : " limits are")
              << " not written; rate_limit_service.files reads all limits\n";
    return failed;
  }

  void read(const std::string& file) {
    const auto text = config::read_bounded_file(file, config::DocumentLimits{}.bytes);
    if (!text) return report(file, problem(text.error().message));
    config::LimitFileContent content = config::parse_limit_file(*text);
    print_diagnostics(std::cerr, file, content.warnings, "warning: ");
    report(file, content.problems);
    if (!content.problems.empty()) return;
    const auto [first, is_new] = domains_.emplace(content.domain, file);
    if (!is_new)
      return report(file, problem("the domain " + config::in_quotes(content.domain) +
                                  " is already that of file " + config::in_quotes(first->second) +
                                  "; write all of its descriptors in one file"));
    contents_.push_back(std::move(content));
    files_.push_back(file);
  }

  std::vector<config::LimitFileContent> contents_;
  std::vector<std::string> files_;              ///< their paths
  std::map<std::string, std::string> domains_;  ///< the files
  bool has_problem_ = false;
};

}  // namespace

void add_import(CLI::App& root, Action& chosen) {
  auto* const command = root.add_subcommand("import", "Print the limits of another program");
  command->require_subcommand(1);
  auto* const ratelimit =
      command->add_subcommand("envoy-ratelimit", "Those of files of envoyproxy/ratelimit");
  const auto paths = std::make_shared<std::vector<std::string>>();
  ratelimit->add_option("PATH", *paths, "Files, and directories with files that end with .yaml")
      ->type_name("")
      ->required();
  ratelimit->footer(
      "Prints policies and rate_limit_service.descriptors, and a comment for each limit that Weir\n"
      "cannot write in this way. rate_limit_service.files reads all of them, without a change.\n"
      "Exit code 1: a limit is not written. Standard error names each, with the reason.\n"
      "Example: weir import envoy-ratelimit config > weir.yaml && weir check weir.yaml");
  ratelimit->callback([&chosen, paths] { chosen = [paths] { return Import().run(*paths); }; });
}

}  // namespace weir::cli
