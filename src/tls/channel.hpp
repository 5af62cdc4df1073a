// One TLS connection over a non-blocking descriptor. The caller owns the descriptor and waits for
// it.
//
// OpenSSL reads and writes the descriptor itself, so no data is copied through other buffers. The
// descriptor must stay open while any function but the destructor is called. Not thread-safe: one
// loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tls/context.hpp"

namespace weir::tls {

class Channel {
 public:
  enum class State : std::uint8_t {
    done,
    wants_read,   ///< try again when the descriptor is readable
    wants_write,  ///< try again when it is writable
    ended,        ///< the peer sent close_notify
    broken,       ///< closed without close_notify, or an error: last_error() has the reason
  };
  struct Step {
    State state = State::done;
    std::size_t bytes = 0;
  };

  /// Makes the server's side.
  Channel(const std::shared_ptr<const ServerContext>& context, int descriptor);
  /// Makes the client's side. The certificate must be for `host`, unless the context has another
  /// name.
  Channel(const std::shared_ptr<const ClientContext>& context, int descriptor,
          const std::string& host);

  State handshake();
  Step read(char* to, std::size_t size);
  /// The protocol chosen by ALPN (RFC 7301), such as h2; empty: none.
  std::string_view protocol() const;
  /// Data that wants_read or wants_write leaves unsent must be passed again, as the start of the
  /// next write.
  Step write(std::string_view data);
  /// Returns done if there is data to read. Consumes records without data, such as session tickets.
  State look();
  /// True if nothing has arrived since the last complete record, not even a part of the next one.
  bool is_quiet();
  /// True if data has arrived that has not been read.
  bool holds_unread() const;
  /// Sends close_notify. wants_write: call it again when the descriptor is writable; otherwise
  /// done.
  State end();
  /// Why it is broken, for the log. Empty if the connection was closed after the handshake without
  /// an error of TLS.
  const std::string& last_error() const { return last_error_; }

 private:
  State state_after(int returned);

  std::shared_ptr<const void> context_;
  NativeConnection ssl_;
  bool broken_ = false;
  bool established_ = false;
  bool end_is_pending_ = false;  ///< close_notify did not fit into the descriptor's buffer
  std::string last_error_;
};

}  // namespace weir::tls
