// The results of scenarios as text and as JUnit XML. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenario/read.hpp"
#include "scenario/run.hpp"

namespace weir::scenario {

/// The results of one file. The scenario, of which they are, outlives them.
struct FileResult {
  std::string file;
  std::vector<StepResult> steps{};
  Problems problems{};  ///< not empty: the file, or its configuration, cannot be used

  bool is_ok() const;
};

/// `FILE: 3 steps ok`, or each failed step with its line, and `FILE: 1 of 3 steps failed`; with
/// ` (2 without expect)` if nothing is expected of some requests. Empty for a file that cannot be
/// used: its problems are printed as those of `weir check`.
std::string to_text(const FileResult& result);

/// A document with a test suite for each file and a test case for each step, as Jenkins, GitLab and
/// others read it. Steps whose request has no expectation are skipped ones.
std::string to_junit(std::span<const FileResult> results);

}  // namespace weir::scenario
