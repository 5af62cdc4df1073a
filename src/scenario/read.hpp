// Reads a scenario and its configuration: returns both, or every problem at once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/cursor.hpp"
#include "config/diagnostic.hpp"
#include "config/load.hpp"
#include "scenario/scenario.hpp"

namespace weir::scenario {

/// The problems of one file.
struct FileProblems {
  std::string file;
  std::vector<config::Diagnostic> problems;
};
using Problems = std::vector<FileProblems>;
[[noreturn]] void throw_exception_from_error(const Problems& problems,
                                             const boost::source_location&);

/// `environment`: of the scenario; its directory is the base of `config`, and its variables are
/// those of the configuration, too.
Result<Scenario, Problems> read_text(std::string_view yaml, const std::string& file,
                                     const config::Environment& environment);
Result<Scenario, Problems> read_file(const std::filesystem::path& file);

// The parts of a step. References are looked up in the configuration; nullptr: it could not be
// loaded, and no name is looked up.

/// A part of a step while it is read.
template <class Part>
struct PartOf {
  const config::Config* config;
  Instant at;  ///< of the step
  Part& to;
};
void read_request(const config::Cursor& in, PartOf<Request> part);
void read_response(const config::Cursor& in, PartOf<Response> part);
void read_expectation(const config::Cursor& in, PartOf<Expectation> part);

inline constexpr config::IntegerRange grpc_statuses{0, 16};

/// Times of a scenario.
inline constexpr config::DurationRange scenario_times{Duration{0}, std::chrono::hours(24 * 3660)};

}  // namespace weir::scenario
