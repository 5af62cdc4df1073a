#include "tls/context.hpp"

#include <arpa/inet.h>
#include <array>

#include "tls/hello_cost.hpp"
#include "tls/openssl.hpp"

namespace weir::tls {
namespace {

/// TLS 1.2: only ciphers with forward secrecy and authenticated encryption. TLS 1.3 uses OpenSSL's
/// default list, all of that kind.
constexpr const char* ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr std::string_view alpn_http11{"\x08http/1.1"};
constexpr std::string_view alpn_http2{"\x02h2"};
constexpr std::string_view alpn_http2_and_http11{"\x02h2\x08http/1.1"};

std::string_view alpn_of(AlpnOffer offer) {
  if (offer == AlpnOffer::http11) return alpn_http11;
  return offer == AlpnOffer::http2 ? alpn_http2 : alpn_http2_and_http11;
}
constexpr std::string_view session_id_context = "weir";

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text.append(text.empty() ? "" : ":").append(name);
  return text;
}

/// Returns an empty context if OpenSSL lacks a setting that is needed. The reason is in its error
/// queue.
NativeContext make_context(const SSL_METHOD* method, const Parameters& parameters) {
  NativeContext context(SSL_CTX_new(method), SSL_CTX_free);
  SSL_CTX* const native = context.get();
  if (native == nullptr) return context;
  const bool is_tls13 = parameters.min_version == Version::tls13;
  std::vector<std::string> of_tls12, of_tls13;
  for (const std::string& cipher : parameters.ciphers)
    (is_tls13_cipher(cipher) ? of_tls13 : of_tls12).push_back(cipher);
  const bool fits =
      SSL_CTX_set_min_proto_version(native, is_tls13 ? TLS1_3_VERSION : TLS1_2_VERSION) == 1 &&
      SSL_CTX_set1_groups_list(native, joined(parameters.groups).c_str()) == 1 &&
      SSL_CTX_set_cipher_list(native, of_tls12.empty() ? ciphers : joined(of_tls12).c_str()) == 1 &&
      (of_tls13.empty() || SSL_CTX_set_ciphersuites(native, joined(of_tls13).c_str()) == 1);
  if (!fits) return nullptr;
  SSL_CTX_set_options(native,
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_PRIORITIZE_CHACHA);
  // Idle connections release their buffers, and the data of a write may move between two tries.
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                               SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(native, 1);  // one system call a record, not two
  return context;
}

/// Adds the requirement of OpenSSL's security level, which the distribution sets.
std::string take_reason_and_advice() {
  const int reason = ERR_GET_REASON(ERR_peek_error());
  std::string text = take_reason();
  if (reason == SSL_R_EE_KEY_TOO_SMALL || reason == SSL_R_CA_KEY_TOO_SMALL)
    return text + "; use RSA with 2048 bits or more, or P-256";
  if (reason == SSL_R_CA_MD_TOO_WEAK) return text + "; have it signed with SHA-256";
  return text;
}

void add_warning(const std::string& problem, const std::string& file,
                 std::vector<std::string>& warnings) {
  if (!problem.empty()) warnings.push_back(problem + " (\"" + file + "\")");
}

/// The certificate that is used.
Result<Certificate> use(SSL_CTX* context, const CertificateFiles& files,
                        std::vector<std::string>& warnings) {
  const Result<Certificates> chain = read_certificates(files.certificate);
  if (!chain) return chain.error();
  const Result<Key> key = read_key(files.private_key);
  if (!key) return key.error();
  if (!belong_together(chain->front(), *key)) {
    return Problem{"the key in \"" + files.private_key +
                   "\" is not the one of the certificate in \"" + files.certificate + "\""};
  }
  ERR_clear_error();
  bool fits = SSL_CTX_use_certificate(context, chain->front().get()) == 1 &&
              SSL_CTX_use_PrivateKey(context, key->get()) == 1;
  for (std::size_t i = 1; fits && i < chain->size(); ++i)
    fits = SSL_CTX_add1_chain_cert(context, (*chain)[i].get()) == 1;
  if (!fits) {
    return Problem{"cannot use the certificate in \"" + files.certificate +
                   "\": " + take_reason_and_advice()};
  }
  add_warning(date_problem(chain->front()), files.certificate, warnings);
  return chain->front();
}

/// A client that offers only other protocols gets the alert no_application_protocol (RFC 7301
/// section 3.2).
int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned offered_size, void* names) {
  const std::string_view& supported = *static_cast<const std::string_view*>(names);
  const auto* const ours = reinterpret_cast<const unsigned char*>(supported.data());
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(
      &chosen, out_size, ours, static_cast<unsigned>(supported.size()), offered, offered_size);
  if (found != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

int choose_certificate(SSL* connection, int*, void* server) {
  const char* const name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  SSL_CTX* const found = static_cast<const ServerContext*>(server)->context_for(name);
  if (found == nullptr) return SSL_TLSEXT_ERR_NOACK;
  SSL_set_SSL_CTX(connection, found);
  return SSL_TLSEXT_ERR_OK;
}

Result<void> trust(SSL_CTX* context, const std::string& ca, std::vector<std::string>& warnings) {
  if (ca.empty()) {
    SSL_CTX_set_default_verify_paths(context);
    ERR_clear_error();
    return {};
  }
  const Result<Certificates> anchors = read_certificates(ca);
  if (!anchors) return anchors.error();
  add_warning(date_problem(anchors->front()), ca, warnings);
  for (const Certificate& anchor : *anchors)
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), anchor.get());
  ERR_clear_error();
  return {};
}

bool is_address(const std::string& host) {
  std::array<unsigned char, 16> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

/// Returns false if memory is short: without an expected name any certificate would be accepted.
bool expect(SSL* connection, const std::string& name) {
  if (is_address(name))
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), name.c_str()) == 1;
  SSL_set_hostflags(connection, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(connection, name.c_str()) == 1 &&
         SSL_set_tlsext_host_name(connection, name.c_str()) == 1;  // for names only (RFC 6066)
}

Problem no_context() {
  return {"OpenSSL: " + take_reason()};
}

/// The server chooses. P-521 is offered for private CAs with such keys.
Parameters client_parameters() {
  Parameters parameters;
  parameters.groups.emplace_back("P-521");
  return parameters;
}

}  // namespace

bool is_available(const Parameters& parameters) {
  const bool is_made = make_context(TLS_server_method(), parameters) != nullptr;
  ERR_clear_error();
  return is_made;
}

Result<std::shared_ptr<const ServerContext>> ServerContext::load(
    const std::vector<CertificateFiles>& files, const Parameters& parameters) {
  auto server = std::make_shared<ServerContext>();
  server->groups_ = numbers_of(parameters.groups);
  for (const CertificateFiles& one : files) {
    NativeContext context = make_context(TLS_server_method(), parameters);
    SSL_CTX* const native = context.get();
    if (native == nullptr) return no_context();
    const auto used = use(native, one, server->warnings_);
    if (!used) return used.error();
    add_warning(key_problem(*used), one.certificate, server->warnings_);
    server->signs_fast_ = server->signs_fast_ && tls::signs_fast(*used);
    const std::string_view& protocols = parameters.http2 ? alpn_http2_and_http11 : alpn_http11;
    SSL_CTX_set_alpn_select_cb(native, choose_protocol, const_cast<std::string_view*>(&protocols));
    SSL_CTX_set_tlsext_servername_callback(native, choose_certificate);
    SSL_CTX_set_tlsext_servername_arg(native, server.get());
    // Tickets hold the session: no session cache.
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_session_id_context(
        native, reinterpret_cast<const unsigned char*>(session_id_context.data()),
        static_cast<unsigned>(session_id_context.size()));
    server->contexts_.push_back({.native = std::move(context), .certificate = *used});
  }
  if (server->contexts_.empty()) return Problem{"no certificate"};
  return std::shared_ptr<const ServerContext>(std::move(server));
}

bool ServerContext::may_cost_much(std::string_view hello) const {
  return !signs_fast_ || tls::may_cost_much(hello, groups_);
}

ssl_ctx_st* ServerContext::context_for(const char* server_name) const {
  if (server_name == nullptr) return nullptr;
  for (const One& one : contexts_) {
    if (X509_check_host(one.certificate.get(), server_name, 0, 0, nullptr) == 1)
      return one.native.get();
  }
  return nullptr;
}

Result<std::shared_ptr<const ClientContext>> ClientContext::load(const ClientFiles& files,
                                                                 AlpnOffer offer) {
  auto client = std::make_shared<ClientContext>();
  client->server_name_ = files.server_name;
  client->native_ = make_context(TLS_client_method(), client_parameters());
  SSL_CTX* const native = client->native_.get();
  if (native == nullptr) return no_context();
  SSL_CTX_set_verify(native, files.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (auto trusted = trust(native, files.ca, client->warnings_); !trusted) return trusted.error();
  if (!files.own.certificate.empty()) {
    if (auto used = use(native, files.own, client->warnings_); !used) return used.error();
  }
  const std::string_view protocols = alpn_of(offer);
  SSL_CTX_set_alpn_protos(native, reinterpret_cast<const unsigned char*>(protocols.data()),
                          static_cast<unsigned>(protocols.size()));
  return std::shared_ptr<const ClientContext>(std::move(client));
}

NativeConnection ClientContext::connection_to(const std::string& host) const {
  NativeConnection connection(SSL_new(native_.get()));
  std::string_view name = server_name_.empty() ? host : server_name_;
  if (name.ends_with('.')) name.remove_suffix(1);  // RFC 6066 section 3
  if (!connection || !expect(connection.get(), std::string(name))) return nullptr;
  SSL_set_connect_state(connection.get());
  return connection;
}

void FreeConnection::operator()(ssl_st* connection) const {
  SSL_free(connection);
}

}  // namespace weir::tls
