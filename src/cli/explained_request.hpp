// A request as `weir explain` shows it: without its query, which may hold an identity.
//
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "http/request_view.hpp"

namespace weir::cli {

struct ExplainedRequest {
  std::string method;
  std::string path;  ///< without the query
  std::string host;  ///< without the port; empty: none is known
};

/// A request whose head was parsed.
ExplainedRequest shown_request(const http::RequestView& request);

/// A request that was refused before its target was read: method, path and host as they stand in
/// `head`, the bytes of request_head(). A part that is too long to print is cut and ends in "...".
ExplainedRequest shown_head(std::string_view head);

/// The request that a `decide` route decides about.
struct ExplainedOriginal {
  ExplainedRequest request;
  std::string because;  ///< which fields describe it, or why it is the request itself
};

/// `asked` is the request that the peer sent, `original` the one read from its fields.
ExplainedOriginal shown_original(const http::RequestView& asked, const http::RequestView& original,
                                 bool peer_is_trusted);

}  // namespace weir::cli
