// Two streams that are the ends of one connection, with TLS.
#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>

#include "unit/loop/stream_pair.hpp"
#include "unit/tls/made_certificate.hpp"

namespace weir::loop::test {

/// How a task of a test ended.
struct Outcome {
  std::optional<error_code> error;
  std::string data;
};

/// Both ends are streams, because TLS needs two.
struct SecurePair {
  explicit SecurePair(asio::io_context& loop) : io(loop) {
    std::signal(SIGPIPE, SIG_IGN);  // as in the server: OpenSSL writes without MSG_NOSIGNAL
    const auto ends = socket_pair();
    server.emplace(io, Descriptor(ends[0]));
    client.emplace(io, Descriptor(ends[1]));
  }

  void shake_hands(const std::string& host = "one.test") {
    const auto accept = [](Stream& stream, std::shared_ptr<const tls::ServerContext> context,
                           Outcome& how) -> Task<> {
      const error_code ec = co_await stream.accept_tls(std::move(context));
      how.error = ec;
    };
    const auto connect = [](Stream& stream, std::shared_ptr<const tls::ClientContext> context,
                            std::string name, Outcome& how) -> Task<> {
      const error_code ec = co_await stream.connect_tls(std::move(context), name);
      how.error = ec;
    };
    const auto files = certificate.files();
    spawn(io, accept(*server, tls::ServerContext::load({files}).value(), accepted));
    spawn(io, connect(*client,
                      tls::ClientContext::load(
                          {.ca = files.certificate, .own = {}, .server_name = {}, .verify = true})
                          .value(),
                      host, connected));
    run(io);
  }

  asio::io_context& io;
  tls::test::MadeCertificate certificate{"one.test"};
  std::optional<Stream> server, client;
  Outcome accepted, connected;
};

inline void start_flush(asio::io_context& io, Stream& stream, Outcome& outcome) {
  const auto flush = [](Stream& to, Outcome& how) -> Task<> {
    const error_code ec = co_await to.flush();
    how.error = ec;
  };
  spawn(io, flush(stream, outcome));
  run(io);
}

}  // namespace weir::loop::test
