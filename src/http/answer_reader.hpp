// Reads the answer to a request that Weir itself has sent: bytes in, a status and a body out.
//
// Pure; the caller owns the connection. Interim answers (1xx) are passed over. The body of an
// answer other than 2xx is read only on request. Memory is bounded by the two limits. Not
// thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/chunked.hpp"
#include "http/framing.hpp"
#include "http/head_parser.hpp"
#include "http/request_view.hpp"

namespace weir::http {

/// Returns how long an answer may be kept before it is requested again (RFC 9111 section 4.2):
/// `max-age` of Cache-Control less the age that a cache has added (Age), not below 0;
/// nothing without a valid `max-age`. If it appears more than once, the smallest counts. A number
/// that is too large counts as 2^31 (RFC 9111 section 1.2.2).
std::optional<std::chrono::seconds> fresh_for(std::span<const FieldView> fields);

class AnswerReader {
 public:
  struct Limits {
    std::size_t head = 64 * 1024;   ///< bytes of each head
    std::size_t body = 0;           ///< bytes after the transfer coding is removed
    bool reads_any_status = false;  ///< the body of any final answer, not only of a 2xx
    bool reads_body = true;         ///< false: the answer is complete with its head
  };
  enum class State : std::uint8_t {
    head,    ///< reads on
    body,    ///< the head is complete; reads on
    done,    ///< the answer is complete
    failed,  ///< problem() has the reason; nothing more is read
  };

  explicit AnswerReader(Limits limits) : limits_(limits) {}

  /// Reads the bytes that have arrived since the last call.
  State read(std::string_view bytes);
  /// The other side has closed the connection: the end of some bodies.
  State end();

  State state() const { return state_; }
  /// The status of the final answer; 0 until its head is complete. Set also if its framing is
  /// invalid.
  int status() const { return status_; }
  /// See fresh_for().
  std::optional<std::chrono::seconds> fresh_for() const { return fresh_for_; }
  /// Retry-After of the final answer, if it is a number of seconds (RFC 9110 section 10.2.3).
  std::optional<std::chrono::seconds> retry_after() const { return retry_after_; }
  std::string take_body() { return std::move(body_); }
  /// Why the answer cannot be used, as text for the log: "its body is larger than 100 bytes".
  const std::string& problem() const { return problem_; }

 private:
  State read_head();
  State begin_body(std::uint8_t version_minor, std::span<const FieldView> fields);
  State read_body();
  State read_chunks();
  bool append(std::string_view payload);
  State fail(std::string problem);

  const Limits limits_;
  State state_ = State::head;
  std::string input_;  ///< not consumed yet
  std::size_t scanned_ = 0;
  int status_ = 0;
  std::optional<std::chrono::seconds> fresh_for_;
  std::optional<std::chrono::seconds> retry_after_;
  Framing framing_;
  ChunkedDecoder chunks_;
  std::string body_;
  std::string problem_;
};

}  // namespace weir::http
