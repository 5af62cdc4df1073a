#include "redis/tls.hpp"

#include <utility>

#ifdef WEIR_HAS_REDIS_TLS
#include <hiredis/hiredis.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#endif

namespace weir::redis {

Tls::Tls(const tls::ClientFiles& files, std::string host)
    : context_(tls::ClientContext::load(files)), host_(std::move(host)) {}

#ifdef WEIR_HAS_REDIS_TLS

std::optional<Problem> Tls::start(redisContext& context) {
  if (!context_) return context_.error();
  SSL* const connection = (*context_)->connection_to(host_);
  if (connection == nullptr) return Problem{"TLS: out of memory"};
  SSL_set_alpn_protos(connection, nullptr, 0);  // there is no name for what Redis speaks
  SSL_set_read_ahead(connection, 0);  // hiredis looks for more at the socket, never behind it
  if (redisInitiateSSL(&context, connection) == REDIS_OK) return std::nullopt;  // and owns it now
  SSL_free(connection);
  return Problem{context.errstr};
}

std::string Tls::take_error() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();  // what stays would be taken for the failure of another connection
  return reason != nullptr ? std::string("TLS: ") + reason : std::string();
}

#else

std::optional<Problem> Tls::start(redisContext&) {
  return Problem{"TLS: this build's hiredis has none"};
}

std::string Tls::take_error() {
  return {};
}

#endif

}  // namespace weir::redis
