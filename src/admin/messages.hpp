// HTTP messages of the admin server: requests to calls, answers to responses. No I/O; only the Date
// field reads a clock.
#pragma once

#include <cstdint>
#include <span>

#include <boost/beast/http.hpp>
#include <boost/system/error_code.hpp>

#include "admin/endpoints.hpp"
#include "base/result.hpp"

namespace weir::admin {

using Head = boost::beast::http::request_header<>;
using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
using Response = boost::beast::http::response<boost::beast::http::string_body>;
using Found = Result<const AdminEndpoint*, AdminAnswer>;

inline constexpr std::uint32_t most_head = 8 * 1024;

/// Returns the endpoint of a request, or the answer that refuses it.
Found find(std::span<const AdminEndpoint> endpoints, const Head& head,
           const Instruments& instruments);

AdminCall call_of(const boost::beast::http::request<boost::beast::http::string_body>& request,
                  const options::Admin* admin);

/// The client sends its body after a response 100 (RFC 9110 section 10.1.1).
bool expects_continue(const Head& head);

/// Returns the answer to a head that could not be read; status 0: the client has gone.
AdminAnswer answer_to(const boost::system::error_code& failure);

/// Returns the answer to a body that could not be read; status 0: the client has gone.
AdminAnswer body_answer(const boost::system::error_code& failure);

/// The head must be complete.
bool has_body(const Parser& parser);

Response response_of(AdminAnswer answer, bool keep_alive);

/// The head of a stream of events, which ends with the connection.
boost::beast::http::response<boost::beast::http::empty_body> stream_head();

}  // namespace weir::admin
