// Request fields that services believe and that only a trusted proxy may send. A "*" at the end
// stands for any rest of a name; all names are in lower case.
#pragma once

#include <array>
#include <string_view>

namespace weir::http {

/// The origin of a request, and the request that another proxy asks about. Never passed on from an
/// untrusted peer. Weir writes X-Forwarded-For, -Proto and -Host itself.
inline constexpr std::array<std::string_view, 4> origin_fields{"forwarded", "x-forwarded-*",
                                                               "x-original-*", "x-real-ip"};

/// The same under the names of single products, and fields by which a service takes another path or
/// method, or a client certificate, than the request has. Passed on from an untrusted peer only
/// with client_address.remove_untrusted_fields: false.
inline constexpr std::array<std::string_view, 12> removable_fields{
    "x-rewrite-url",           // IIS, Symfony and Zend: another path
    "x-http-method-override",  // Rails, Express, ASP.NET and others: another method
    "x-http-method",           // Microsoft: the same
    "x-method-override",       // IBM: the same
    "x-forwarded",             // predecessors of Forwarded
    "true-client-ip",          // Akamai, Cloudflare
    "cf-connecting-ip",        // Cloudflare
    "x-client-ip",             // Apache mod_remoteip's example, Azure
    "x-cluster-client-ip",     // Rackspace, Riverbed
    "client-ip",               // read by PHP applications
    "front-end-https",         // Microsoft: the client used TLS
    "x-ssl-client-*",          // the client's certificate, verified by the proxy
};

/// Passed on from nobody: CGI makes it the variable HTTP_PROXY, which programs use as their own
/// proxy for requests that they send (CVE-2016-5385).
inline constexpr std::string_view cgi_proxy_field = "proxy";

}  // namespace weir::http
