// The fuzz target's input: text in steps, each after a "~" that stands at the beginning of a line.
//
//   LETTERS          before the first step: how the proxy is set up (see Setup)
//   ~cBYTES          the client sends; ~uBYTES: the upstream does, on the connection made last
//   ~xN, ~yN         they send N bytes of filler
//   ~aN              the upstream answers the last request it has, with a body of N bytes
//   ~e, ~q, ~r       the client ends its sending half, closes, resets; ~h, ~k, ~z: the upstream
//   ~s, ~w           the client, the upstream stops reading or goes on
//   ~n0 ~n1 ~n2      connections made from now on succeed, are refused, hang
//   ~iN              the upstream steps that follow are about connection N
//   ~tN              N ticks pass
//   ~d, ~b           the worker drains, aborts
//   ~gN              the worker takes configuration N: 1 has low limits, 2 two servers, 3 both
//   ~l               the listener of the client's connection is removed
//
// After a step everything runs until nothing moves; not after one with a capital letter.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::fuzz {

struct Setup {
  bool small_buffers = false;   ///< s: of the sockets
  bool trusted_peer = false;    ///< t
  bool proxy_protocol = false;  ///< p
  bool low_limits = false;      ///< l: on heads and bodies
  bool two_servers = false;     ///< o: and more tries, and other response fields
  bool full = false;            ///< f: the connection is one too many
  bool no_descriptors = false;  ///< g: for connections to upstreams
};

struct Step {
  char what = 0;  ///< in lower case
  bool is_alone = true;
  std::string_view text;

  std::size_t number(std::size_t most) const;
};

struct Script {
  Setup setup;
  std::vector<Step> steps;
};

Script read_script(std::string_view input);

/// The positions where steps begin, for the mutator. The first part is the setup.
std::vector<std::string> parts_of(std::string_view input);
std::string join(const std::vector<std::string>& parts);

}  // namespace weir::fuzz
