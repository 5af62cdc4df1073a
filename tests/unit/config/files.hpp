// A directory for the files that a configuration names.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "unit/config/loading.hpp"

namespace weir::config::test {

/// The directory of one test, removed with it.
class Files {
 public:
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-config-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make " + pattern);
    directory_ = pattern;
  }
  ~Files() { std::filesystem::remove_all(directory_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(directory_ / name, std::ios::binary) << content;
  }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  /// Relative paths of the configuration begin there.
  Environment environment(Variables variables = {}) const {
    return test::environment(std::move(variables), directory_);
  }

 private:
  std::filesystem::path directory_;
};

}  // namespace weir::config::test
