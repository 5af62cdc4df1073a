// Scenarios of the test with the configuration beside them, in a directory of its own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "scenario/read.hpp"
#include "scenario/report.hpp"
#include "scenario/run.hpp"

namespace weir::scenario::test {

class Directory {
 public:
  explicit Directory(const std::string& configuration) {
    std::string name = std::filesystem::temp_directory_path() / "weir-scenario-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
    write("weir.yaml", configuration);
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  Result<Scenario, Problems> read(const std::string& yaml) const {
    return read_text(yaml, "limits.yaml", config::process_environment(path_ / "limits.yaml"));
  }
  /// `FILE:LINE:COLUMN: path: message`, one a line.
  std::string problems_of(const std::string& yaml) const {
    const auto scenario = read(yaml);
    std::string all;
    if (scenario) return all;
    for (const auto& [file, problems] : scenario.error()) {
      for (const config::Diagnostic& one : problems)
        all += std::filesystem::path(file).filename().string() + ':' + one.to_string() + '\n';
    }
    return all;
  }
  /// The report of a scenario that can be read, with `[explained]` for each explanation.
  std::string report(const std::string& yaml) const {
    auto scenario = read(yaml);
    if (!scenario) FAIL(problems_of(yaml));
    FileResult result{.file = "limits.yaml"};
    result.steps = run(*scenario, [](const FailedRequest&) { return "[explained]\n"; });
    return to_text(result);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace weir::scenario::test
