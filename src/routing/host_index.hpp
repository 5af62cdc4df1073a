// Numbers the host patterns of a route table, and finds the number for the host of a request.
//
// A request's host matches one exact pattern at most, and wildcards that are nested in each other:
// *.a.example.com, *.example.com. So one number is enough: that of the most specific pattern, from
// which broader() leads to the others. Pure; thread-safe once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "http/request_view.hpp"
#include "routing/folded_hash.hpp"

namespace weir::routing {

class HostIndex {
 public:
  using Number = std::uint32_t;
  static constexpr Number any = 0;  ///< routes without a host

  /// Adds `pattern` in the form of Match::host. Returns the same number for the same pattern in
  /// another letter case.
  Number add(std::string_view pattern);
  /// Call it after the last add().
  void link();

  /// The most specific pattern that `host` matches, which must not be empty; `any` if there is
  /// none.
  Number find(std::string_view host) const;
  /// The next pattern that matches every host that `pattern` matches; `any` after the last.
  Number broader(Number pattern) const { return broader_[pattern]; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return folded_hash(text); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return http::iequals(a, b); }
  };
  using Numbers = std::unordered_map<std::string, Number, Hash, Equal>;

  Number longest_wildcard(std::string_view host) const;

  Numbers exact_;
  Numbers wildcards_;          ///< by the text after the asterisk: ".example.com"
  std::size_t most_dots_ = 0;  ///< in one of the wildcards
  std::vector<Number> broader_{any};
};

}  // namespace weir::routing
