// One TLS connection over a non-blocking descriptor that somebody else owns and waits for.
//
// OpenSSL reads and writes the descriptor itself, so nothing is copied through buffers of ours. The
// descriptor must stay open as long as any function but the destructor is called. Not thread-safe:
// one loop.
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
    ended,        ///< the peer said that it sends no more
    broken,       ///< cut without a word, or an error: trouble() says why
  };
  struct Step {
    State state = State::done;
    std::size_t bytes = 0;
  };

  /// The server's side.
  Channel(const std::shared_ptr<const ServerContext>& context, int descriptor);
  /// The client's side. `host` is what the certificate must be for unless the context names
  /// another.
  Channel(const std::shared_ptr<const ClientContext>& context, int descriptor,
          const std::string& host);

  State handshake();
  Step read(char* to, std::size_t size);
  /// What wants_read or wants_write leaves unsent must be given again, as the start of the next
  /// write.
  Step write(std::string_view data);
  /// done if there is something to read; what is not for us, such as session tickets, is used up.
  State look();
  /// Nothing has arrived since the last complete record, not even a part of the next one.
  bool is_quiet();
  /// Something has arrived that has not been read.
  bool holds_unread() const;
  /// Tells the peer that no more is sent, if that can be told at once.
  void end();
  /// Why it is broken, in words for the log; empty for a connection that was cut behind its
  /// handshake, of which TLS has nothing to say.
  const std::string& trouble() const { return trouble_; }

 private:
  State state_after(int returned);

  std::shared_ptr<const void> context_;
  NativeConnection ssl_;
  bool broken_ = false;
  bool established_ = false;
  std::string trouble_;
};

}  // namespace weir::tls
