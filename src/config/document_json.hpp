// A configuration as JSON, for people and scripts that ask a running process what it uses.
//
// Scalars are as written: variables are not replaced, and files are named, not read. A secret that
// is written in the file itself, or in part, or as the default of a variable, is replaced by
// `hidden_secret`; so is each value in request_headers and in match.headers, because these are
// often credentials. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "config/document.hpp"

namespace weir::config {

inline constexpr std::string_view hidden_secret = "(secret)";

/// `secrets`: the scalars that are secrets.
std::string document_json(const Node& root, const std::set<const Node*>& secrets);

}  // namespace weir::config
