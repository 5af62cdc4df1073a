// The SHA-1 that SCRIPT LOAD returned for each script. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::redis {

class ScriptShas {
 public:
  /// By index of the script; empty until the script has been loaded. Valid until the next set().
  std::string_view sha(std::size_t script) const {
    return script < shas_.size() ? std::string_view(shas_[script]) : std::string_view{};
  }
  /// Redis has loaded the script.
  void set(std::size_t script, std::string_view sha) {
    if (script >= shas_.size()) shas_.resize(script + 1);
    shas_[script] = sha;
  }

 private:
  std::vector<std::string> shas_;
};

}  // namespace weir::redis
