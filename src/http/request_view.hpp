// A parsed request head. Its members are views into the connection's buffer and do not outlive it.
//
// The proxy room makes it; routing, identity and others read it. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <boost/beast/http/field.hpp>

namespace weir::http {

using FieldId =
    boost::beast::http::field;  ///< FieldId::unknown for names outside the standard list

struct FieldView {
  FieldId id = FieldId::unknown;
  /// HTTP/2: it must not be indexed when it is sent on (RFC 7541 section 7.1.3).
  bool is_never_indexed = false;
  std::string_view name;   ///< as received
  std::string_view value;  ///< without surrounding white space
};

struct RequestView {
  std::string_view method;
  std::string_view target;  ///< as received, except that absolute-form is reduced to origin-form:
                            ///< "/path?query" or "*"
  std::string_view path;    ///< target up to the first '?', not decoded
  std::string_view query;   ///< after the first '?', not decoded
  std::string_view
      host;  ///< of Host or of the absolute-form, without port, brackets kept; compare with iequals
  std::string_view authority;         ///< the same with its port, as received
  std::uint8_t version_major = 1;     ///< 1 or 2
  std::uint8_t version_minor = 1;     ///< of HTTP/1; for HTTP/2 as for HTTP/1.1
  std::span<const FieldView> fields;  ///< in the order received, before any hop-by-hop removal

  /// The first field of that id or name (ASCII case-insensitive); nullptr if there is none.
  const FieldView* find(FieldId id) const;
  const FieldView* find(std::string_view name) const;
};

/// True for a CORS preflight request: OPTIONS with one Access-Control-Request-Method that the
/// service gets, without a body (the Fetch standard, section 3.3.2). Origin is not required: a
/// browser always sends it, and nothing depends on it.
bool is_preflight(const RequestView& request);

/// ASCII case-insensitive equality, as for field names, hosts and connection options.
bool are_equal_but_for_case(std::string_view a, std::string_view b);  // of the same size
inline bool iequals(std::string_view a, std::string_view b) {
  return a.size() == b.size() && are_equal_but_for_case(a, b);
}

}  // namespace weir::http
