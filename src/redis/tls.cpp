#include "redis/tls.hpp"

#ifdef WEIR_HAS_REDIS_TLS

#include <hiredis/hiredis.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>

namespace weir::redis {
namespace {

Problem openssl_problem(const std::string& what) {
  char text[256] = "";
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  ERR_clear_error();
  return {what + ": " + text};
}

bool is_address(const std::string& name) {
  boost::system::error_code ec;
  boost::asio::ip::make_address(name, ec);
  return !ec;
}

std::optional<Problem> configure(SSL_CTX& context, const config::RedisTls& settings) {
  SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
  const bool has_ca = settings.ca.empty() ? SSL_CTX_set_default_verify_paths(&context) == 1
                                          : SSL_CTX_load_verify_locations(
                                                &context, settings.ca.c_str(), nullptr) == 1;
  if (!has_ca) return openssl_problem("tls.ca " + settings.ca);
  if (settings.certificate.empty()) return std::nullopt;
  if (SSL_CTX_use_certificate_chain_file(&context, settings.certificate.c_str()) != 1)
    return openssl_problem("tls.certificate " + settings.certificate);
  if (SSL_CTX_use_PrivateKey_file(&context, settings.private_key.c_str(), SSL_FILETYPE_PEM) != 1)
    return openssl_problem("tls.private_key " + settings.private_key);
  return std::nullopt;
}

/// SSL_ctrl() is what the macro SSL_set_tlsext_host_name() means. hiredis itself compares no names
/// (redisCreateSSLContext's server_name is for SNI alone).
bool expect_name(SSL& ssl, const std::string& name) {
  if (is_address(name))
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(&ssl), name.c_str()) == 1;
  return SSL_ctrl(&ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  const_cast<char*>(name.c_str())) == 1 &&
         SSL_set1_host(&ssl, name.c_str()) == 1;
}

}  // namespace

struct Tls::Context {
  struct Free {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  std::unique_ptr<SSL_CTX, Free> ssl{SSL_CTX_new(TLS_client_method())};
};

Tls::Tls(const config::RedisTls& settings, const std::string& host)
    : context_(std::make_unique<Context>()),
      server_name_(settings.server_name.empty() ? host : settings.server_name),
      problem_(configure(*context_->ssl, settings)) {}

Tls::~Tls() = default;

std::optional<Problem> Tls::start(redisContext& context) {
  if (problem_) return problem_;
  SSL* const ssl = SSL_new(context_->ssl.get());
  if (ssl != nullptr && expect_name(*ssl, server_name_) &&
      redisInitiateSSL(&context, ssl) == REDIS_OK)
    return std::nullopt;  // the context owns it now
  SSL_free(ssl);
  return context.err != 0 ? Problem{context.errstr} : openssl_problem("TLS");
}

std::string Tls::take_error() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();  // what stays would be taken for the failure of another connection
  return reason != nullptr ? std::string("TLS: ") + reason : std::string();
}

}  // namespace weir::redis

#else

namespace weir::redis {

struct Tls::Context {};

Tls::Tls(const config::RedisTls&, const std::string&)
    : problem_(Problem{"TLS: this build's hiredis has none"}) {}
Tls::~Tls() = default;

std::optional<Problem> Tls::start(redisContext&) {
  return problem_;
}

std::string Tls::take_error() {
  return {};
}

}  // namespace weir::redis

#endif
