#include "redis/tls.hpp"

#ifdef WEIR_HAS_REDIS_TLS

#include <hiredis/hiredis.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "tls/context.hpp"

namespace weir::redis {

std::optional<Problem> start_tls(redisContext& context, const tls::ClientFiles& files,
                                 const std::string& host) {
  const auto shared = tls::ClientContext::load(files);
  if (!shared) return shared.error();
  tls::NativeConnection connection = (*shared)->connection_to(host);
  if (connection == nullptr) return Problem{"TLS: out of memory"};
  SSL_set_alpn_protos(connection.get(), nullptr, 0);  // ALPN has no name for the protocol of Redis
  SSL_set_read_ahead(connection.get(), 0);  // hiredis polls the socket, not the buffer of OpenSSL
  if (redisInitiateSSL(&context, connection.get()) != REDIS_OK) return Problem{context.errstr};
  static_cast<void>(connection.release());  // the context owns it now
  return std::nullopt;
}

const char* take_tls_error() noexcept {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();  // or it would be reported for another connection
  return reason;
}

}  // namespace weir::redis

#else

namespace weir::redis {

std::optional<Problem> start_tls(redisContext&, const tls::ClientFiles&, const std::string&) {
  return Problem{"TLS: this build's hiredis has none"};
}

const char* take_tls_error() noexcept {
  return nullptr;
}

}  // namespace weir::redis

#endif
