// The keyed hash of an identity whose values an operator writes down, also of one that combines
// several. Pure; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"
#include "identity/identity.hpp"

namespace weir::identity {

/// A way in which a request can have the values.
struct WrittenKey {
  Hash128 key;         ///< the one that resolve() finds then
  std::string source;  ///< as describe() writes it; of AllOf each, separated by " + "
  friend bool operator==(const WrittenKey&, const WrittenKey&) = default;
};

/// Returns every way in which a request can have these values, as keys_of() reads them, at most
/// 256. AllOf takes one value for each of its sources, in order; AnyOf counts once with each source
/// that can have the value. A claim that is written as a number or boolean of JSON may be that or a
/// text.
std::vector<WrittenKey> written_keys(const Source& source, std::span<const std::string_view> values,
                                     const ValueOptions& options, SipKey key);

}  // namespace weir::identity
