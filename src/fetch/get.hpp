// A GET request of Weir itself, such as for the keys of an issuer: over HTTP/1.1, on a connection
// of its own, on a loop.
//
// Follows no redirect and accepts no content coding. One timeout covers everything from the lookup
// of the name to the last byte. The addresses of the name are tried in turn: each has an equal part
// of the time that is left. Not thread-safe: one loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/connect_attempt.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "fetch/lookup.hpp"
#include "fetch/url.hpp"
#include "http/answer_reader.hpp"
#include "loop/stream.hpp"
#include "tls/context.hpp"

namespace weir::fetch {

struct Request {
  Url url{};
  std::string accept = "*/*";                       ///< the field's value
  std::shared_ptr<const tls::ClientContext> tls{};  ///< for https://
  Duration timeout = std::chrono::seconds(5);
  std::size_t most_body = 0;  ///< bytes; a larger body is an error
};

struct Answer {
  int status = 0;                                   ///< 200 to 599, or 101
  std::string body{};                               ///< of a 2xx; others are not read
  std::optional<std::chrono::seconds> fresh_for{};  ///< of a 2xx; see http/freshness.hpp
};

class Get : public std::enable_shared_from_this<Get> {
 public:
  using Done = std::function<void(Result<Answer>)>;

  /// Starts the request. Calls `done` once, from the loop, unless cancel() is called before. A
  /// problem is text for the log without the URL: "cannot connect: Connection refused".
  static std::shared_ptr<Get> start(asio::io_context& io, Request request, Done done);
  Get(const Get&) = delete;
  Get& operator=(const Get&) = delete;

  /// Ends the request; `done` is not called.
  void cancel();

 private:
  Get(asio::io_context& io, Request request, Done done);

  static loop::Task<> run(std::shared_ptr<Get> self);
  loop::Task<Result<Answer>> exchange();
  loop::Task<Result<Addresses>> find_addresses();
  loop::Task<std::string> connect(const Addresses& addresses);
  loop::Task<error_code> connect_any(const Addresses& addresses);
  void cancel_at(ConnectAttempt::Address address);
  loop::Task<std::string> read_answer(http::AnswerReader& answer);
  std::string failure(std::string_view what, const error_code& ec) const;
  std::string request_text() const;
  void give_up();
  void finish(Result<Answer> result);

  asio::io_context& io_;
  const Request request_;
  Done done_;
  loop::Stream stream_;
  ConnectAttempt attempt_;
  loop::Timer deadline_;
  loop::Timer lookup_ends_;                ///< cancelled by the end of the lookup
  loop::Timer turn_ends_;                  ///< the next address is tried
  std::optional<std::size_t> connecting_;  ///< index of the address
  std::string_view phase_;                 ///< for the text of a timeout
  bool is_over_ = false;                   ///< timed out or cancelled
};

}  // namespace weir::fetch
