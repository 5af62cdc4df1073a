// Differences between two spellings of a path that many services ignore.
//
// A path that has one of them is matched with the difference and without it, and the limits of all
// routes found apply.
#pragma once

namespace weir::routing {

struct PathVariants {
  bool letter_case = true;         ///< /Login and /login
  bool trailing_slash = true;      ///< /login/ and /login
  bool repeated_slashes = true;    ///< //login, //host/login and /login
  bool dot_segments = true;        ///< /a/../login and /login
  bool parameters = true;          ///< /login;v=1 and /login, and /login;/x
  bool encoded_delimiters = true;  ///< /login%3Fx, /login%23x, /login%3Bx and /login
  friend bool operator==(const PathVariants&, const PathVariants&) = default;
};

}  // namespace weir::routing
