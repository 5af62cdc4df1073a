// A request of Weir itself, such as for the keys of an issuer: over HTTP/1.1, on a connection of
// its own, on a loop.
//
// Follows no redirect and accepts no content coding. One timeout covers everything from the lookup
// of the name to the last byte. The addresses of the name are tried in turn: each has an equal part
// of the time that is left. Not thread-safe: one loop.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "fetch/request.hpp"
#include "http/answer_reader.hpp"
#include "loop/dialer.hpp"

namespace weir::fetch {

class Call : public std::enable_shared_from_this<Call> {
 public:
  using Done = std::function<void(Result<Answer>)>;

  /// Starts the request. Calls `done` once, from the loop, unless cancel() is called before. A
  /// problem is text for the log without the URL: "cannot connect: Connection refused".
  static std::shared_ptr<Call> start(asio::io_context& io, Request request, Done done);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Ends the request; `done` is not called.
  void cancel();

 private:
  Call(asio::io_context& io, Request request, Done done);

  static loop::Task<> run(std::shared_ptr<Call> self);
  loop::Task<Result<Answer>> exchange();
  loop::Task<std::string> read_answer(http::AnswerReader& answer);
  std::string request_text() const;
  void finish(Result<Answer> result);

  asio::io_context& io_;
  const Request request_;
  Done done_;
  loop::Dialer dialer_;
};

}  // namespace weir::fetch
