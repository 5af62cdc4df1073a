// The admin endpoints: which requests they accept, and their answers. The server does the I/O; the
// only I/O here is reading /proc.
//
// An endpoint is a row of a table with a handler, which answers now or later. This room has those
// that read the instruments; the process adds those that reach its stores and its configuration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admin/instruments.hpp"
#include "admin/reload_report.hpp"
#include "base/result.hpp"
#include "options/admin.hpp"

namespace weir::admin {

// A page in a browser on this machine or network can reach the admin server: by DNS rebinding,
// where the page's own name resolves to the server's address, and by cross-site requests. The Host
// field shows the first, the Origin field the second (Fetch standard, section 3.2).

/// Fields that show where a browser's request comes from; absent: not in the request.
struct Provenance {
  std::optional<std::string_view> host{};
  std::optional<std::string_view> origin{};
};

/// Returns why the request is not answered, with the setting that changes it; empty if it is
/// answered.
///
/// Accepts as Host an IP address, localhost, the host of admin.address and the names in
/// admin.hosts, with any port. A request without Host is HTTP/1.0, which no browser sends; it is
/// accepted without an Origin. Any Host is accepted over a unix socket, which no browser can reach.
/// An Origin is accepted if it is that of the Host.
std::string_view why_foreign(const Provenance& from, const options::Admin& admin);

/// The parts of a request head that decide whether it is accepted.
struct AdminRequest {
  std::string_view method;
  std::string_view path;           ///< without the query
  std::string_view query{};        ///< after the first '?'
  std::string_view authorization;  ///< the field's value; empty if there is none
  Provenance from{};
};

struct AdminAnswer {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::string body{};
  std::string_view allow{};  ///< 405: the methods that are allowed
  /// The Content-Security-Policy of a page. Lives as long as the process.
  std::string_view security_policy{};
};

/// A request that is accepted. Its method is one of the endpoint's.
struct AdminCall {
  enum class Method : std::uint8_t { get, put, post, remove } method = Method::get;  ///< HEAD: get
  std::string query{};         ///< of the target, after the first '?'
  std::string body{};          ///< of PUT, at most `most_body`
  bool is_authorized = false;  ///< it has the token, or no token is set
};

/// The largest body of a PUT.
inline constexpr std::size_t most_body = 16 * 1024;

/// To be called once, on any thread.
using Reply = std::function<void(AdminAnswer)>;
/// Called on the admin server's thread; does not block it.
using Handler = std::function<void(AdminCall, const Instruments&, Reply)>;

/// The right that a request needs.
enum class Access : std::uint8_t {
  token,   ///< the token or, if none is set, a Host of this server
  page,    ///< the same, but without a token it is answered too: AdminCall::is_authorized
  public_  ///< nothing: for probes
};

/// The names that a query can have. Methods that are not listed have no parameters.
struct QueryParameters {
  std::string_view methods{};  ///< as Allow lists them
  std::span<const std::string_view> names{};
};

struct AdminEndpoint {
  std::string_view path;
  std::string_view methods;  ///< as Allow lists them
  Handler handle;            ///< not used for a stream
  Access access = Access::token;
  bool is_stream = false;  ///< answered with server-sent events
  QueryParameters parameters{};
  /// For probes, scrapers and browsers, whose query others may have set.
  bool ignores_query = false;
};

/// /healthz, /readyz, /metrics and /v1/config.
std::vector<AdminEndpoint> instrument_endpoints();

/// Whether the field has the token, or no token is set. `admin`: nullptr: it is off.
bool is_authorized(std::string_view authorization, const options::Admin* admin);

/// Describes the first parameter that is not `known`; empty: all of them are.
std::string unknown_parameter(std::string_view query, std::span<const std::string_view> known);

/// Finds the endpoint of a request. Returns the refusal if there is none that accepts it. Access is
/// checked before the path is looked up: unknown paths need the token, too. The parameters are
/// checked last.
Result<const AdminEndpoint*, AdminAnswer> find_endpoint(std::span<const AdminEndpoint> endpoints,
                                                        const AdminRequest& request,
                                                        const options::Admin* admin);

/// 200 with what has changed, 202 while it is in shadow, 422 with every problem, or 503 while the
/// process is draining.
AdminAnswer reload_answer(const ReloadReport& report);

/// The answer to a request that the admin server refuses: a problem document.
AdminAnswer problem_answer(int status, std::string_view detail);

}  // namespace weir::admin
