// Hints about a file or socket that cannot be created or read. Pure; thread-safe.
#pragma once

#include <string>
#include <sys/types.h>

namespace weir {

/// Returns `; create the folder "/run/weir" first` or the like for an errno of a call that creates
/// or opens `path` for writing; empty if there is no advice. `user`: the one that failed.
std::string path_advice(const std::string& path, int error, uid_t user);

/// The same for an errno of a call that opens a file for reading.
std::string read_advice(int error, uid_t user);

}  // namespace weir
