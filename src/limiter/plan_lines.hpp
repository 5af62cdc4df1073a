// Parses a file of plans. Each line is one client: its identity, a TAB and its plan.
//
//   # customers
//   k-71f2e0<TAB>gold
//   hash:00112233445566778899aabbccddeeff<TAB>internal    # their key is a secret
//
// An identity is the value of the file's identity, or "hash:" and the keyed hash that logs show. A
// comment begins with "#", at the start of a line or after the plan. Blank lines, CRLF and a byte
// order mark are accepted. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/siphash.hpp"
#include "identity/identity.hpp"
#include "limiter/plans.hpp"

namespace weir::limiter {

/// The configuration that the lines refer to.
struct PlanLineRules {
  const Plans& plans;
  const identity::Definition& identity;
  identity::ValueOptions values;
  SipKey key;
};

struct PlanLines {
  struct Finding {
    std::size_t line = 0;  ///< counts from 1
    std::string message;   ///< the defect and the fix; never an identity
    friend bool operator==(const Finding&, const Finding&) = default;
  };

  PlanTable table;
  std::vector<Finding> problems;    ///< the first ones; the table is not complete
  std::size_t omitted = 0;          ///< problems that are not in `problems`
  std::vector<Finding> unknown;     ///< the first plans that the configuration does not have
  std::size_t unknown_omitted = 0;  ///< lines with such a plan that are not in `unknown`
};

PlanLines parse_plan_lines(std::string_view text, const PlanLineRules& rules);

}  // namespace weir::limiter
