// Why the rate limit service admits or denies a call: `weir explain --domain`.
//
// rls::RateLimitCall decides it with an empty memory store, as in explanation.hpp: once as a whole,
// and each descriptor alone, which shows whose limit is whose. Values of entries are not shown.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/explanation.hpp"
#include "identity/descriptor_key.hpp"

namespace weir::cli {

struct CallArguments {
  std::string domain;
  std::vector<std::vector<std::string>> descriptors{};  ///< each a list of KEY=VALUE
};

/// A call whose texts are those of its arguments.
struct DescribedCall {
  std::string_view domain;
  std::vector<std::vector<identity::DescriptorEntry>> descriptors{};
};

/// Problems name the argument.
Result<DescribedCall> read_call(const CallArguments& arguments);

/// `config` has the rate limit service.
Explanation explain_call(const config::Config& config, const DescribedCall& call, Instant now,
                         std::span<const KnownOverrides> overrides = {});

}  // namespace weir::cli
