// The status page: one HTML document with its style and script, from src/status/page. Thread-safe.
//
// The script reads /v1/status/events and sets every text as text, never as HTML. The policy of the
// document lets nothing else run, and nothing be loaded or sent elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "status/report.hpp"

namespace weir::status {

/// With the tables of this report for browsers without JavaScript.
std::string page(const Report& report);
/// For a request without the token: contains nothing of the process. The script asks for the token;
/// without JavaScript the page explains how to send it.
std::string locked_page();

/// The source of an inline element in a Content Security Policy (Level 3, section 2.3.1).
std::string hash_source(std::string_view text);

/// The value of Content-Security-Policy for both.
std::string_view security_policy();

}  // namespace weir::status
