// Request fields that services rely on and that only a trusted proxy may send. A "*" at the end
// matches any ending of a name; all names are in lower case.
#pragma once

#include <array>
#include <string_view>

namespace weir::http {

/// The origin of a request, and the original request that another proxy describes. Never forwarded
/// from an untrusted peer. Weir writes X-Forwarded-For, -Proto and -Host itself.
inline constexpr std::array<std::string_view, 4> origin_fields{"forwarded", "x-forwarded-*",
                                                               "x-original-*", "x-real-ip"};

/// The same under the names of single products, and fields that give a service another path, method
/// or client certificate than that of the request. Forwarded from an untrusted peer only with
/// client_address.remove_untrusted_fields: false.
inline constexpr std::array<std::string_view, 39> removable_fields{
    "script-name",               // gunicorn: cuts it off the path
    "x-script-name",             // WSGI applications: the same
    "x-rewrite-url",             // IIS, Symfony and Zend: another path
    "x-override-url",            // the same
    "x-envoy-original-path",     // Envoy: the path before it was rewritten
    "x-host",                    // another host
    "x-http-method-override",    // Rails, Express, ASP.NET and others: another method
    "x-http-method",             // Microsoft: the same
    "x-method-override",         // IBM: the same
    "x-forwarded",               // predecessors of Forwarded
    "true-client-ip",            // Akamai, Cloudflare
    "cf-connecting-ip",          // Cloudflare
    "cf-connecting-ipv6",        // the same
    "fastly-client-ip",          // Fastly
    "proxy-client-ip",           // WebLogic and others
    "wl-proxy-client-ip",        // WebLogic
    "cluster-client-ip",         // Rackspace
    "x-originating-ip",          // read by applications
    "x-remote-ip",               // the same
    "x-remote-addr",             // the same
    "forwarded-for",             // the same
    "x-envoy-external-address",  // Envoy
    "x-client-ip",               // Apache mod_remoteip's example, Azure
    "x-cluster-client-ip",       // Rackspace, Riverbed
    "client-ip",                 // read by PHP applications
    "x-true-client-ip",          // read by applications
    "fly-client-ip",             // Fly.io
    "x-azure-clientip",          // Azure Front Door
    "x-azure-socketip",          // the same
    "x-appengine-user-ip",       // Google App Engine
    "front-end-https",           // Microsoft: the client used TLS
    "x-url-scheme",              // the same
    "remote-user",               // the user that a proxy has authenticated
    "x-remote-user",             // the same
    "ssl-client-*",              // the client's certificate, verified by the proxy
    "x-ssl-client-*",            // the same
    "x-client-verify",           // the same
    "x-client-cert",             // the same
    "x-arr-clientcert",          // Azure App Service
};

/// Never forwarded: CGI makes it the variable HTTP_PROXY, which programs use as the proxy for
/// requests that they send (CVE-2016-5385).
inline constexpr std::string_view cgi_proxy_field = "proxy";

}  // namespace weir::http
