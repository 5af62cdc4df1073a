// A request of Weir itself, its answer, and a function that waits for it. Needs no loop, so
// commands use it; `Call` is the same on a loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/secret.hpp"
#include "base/time.hpp"
#include "http/url.hpp"

namespace weir::tls {
class ClientContext;
}

namespace weir::fetch {

struct Request {
  std::string method = "GET";
  http::Url url{};
  std::string unix_path{};     ///< connects to this socket; `url` is then for Host and target only
  std::string accept = "*/*";  ///< the field's value
  Secret token{};              ///< sent as `Authorization: Bearer`, unless it is empty
  std::vector<std::pair<std::string, Secret>> fields{};  ///< more of them, valid in a head
  std::string json{};                                    ///< the body; empty: none
  std::shared_ptr<const tls::ClientContext> tls{};       ///< for https://
  Duration timeout = std::chrono::seconds(5);
  std::size_t most_body = 0;      ///< bytes of the answer; a larger body is an error
  bool reads_any_status = false;  ///< reads the body of any answer, not only of a 2xx
  bool reads_body = true;         ///< false: the answer is its head
};

struct Answer {
  int status = 0;                                     ///< 200 to 599, or 101
  std::string body{};                                 ///< of a 2xx, unless reads_any_status
  std::optional<std::chrono::seconds> fresh_for{};    ///< of a 2xx; see http/answer_reader.hpp
  std::optional<std::chrono::seconds> retry_after{};  ///< in seconds; a date counts as none
};

/// Sends the request and waits for its answer. A problem is text without the URL and the token:
/// "cannot connect: Connection refused".
Result<Answer> answer_to(Request request);

/// The same, and calls `gives_up` every few milliseconds while it waits. Returns nothing when that
/// returns true: the request has ended.
std::optional<Result<Answer>> answer_unless(const std::function<bool()>& gives_up, Request request);

}  // namespace weir::fetch
