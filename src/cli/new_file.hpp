// A file that appears under its name when it is complete, in place of an earlier one. Not
// thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace weir::cli {

class NewFile {
 public:
  /// Creates a file beside the one of this name. A problem: the directory does not permit it.
  static Result<NewFile> create(const std::string& path);
  /// Removes a file that is not complete.
  ~NewFile();
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;

  /// Writes the content and gives the file its name. To be called once.
  Result<void> complete(std::string_view content);

 private:
  NewFile() = default;

  std::string path_;
  std::string temporary_;  ///< empty: it has its name, or is removed
  int descriptor_ = -1;
};

}  // namespace weir::cli
