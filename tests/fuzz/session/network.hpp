// The environment of a session: sockets whose other end is the fuzz target, and a clock that it
// sets.
//
// The linker replaces a few calls by these (--wrap, see CMakeLists.txt), so that the proxy is built
// unchanged: every connect() gets one end of a socket pair. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace weir::fuzz {

/// The target's end of a connection. Bytes from the proxy are read and kept; bytes to it wait until
/// the socket accepts them.
class End {
 public:
  End(int own, int other) : own_(own), other_(other) {}
  ~End() { close(); }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  void send(std::string_view bytes) { waiting_.append(bytes); }
  /// Ends the sending half, after the bytes that wait.
  void end_sending() { ends_ = true; }
  void close();
  /// The proxy's next read or write fails.
  void reset();
  /// Reads no more, or again.
  void stall() { is_stalled_ = !is_stalled_; }
  /// Sends and reads as much as possible. Returns false if nothing could be sent or read.
  bool move();

  bool is_open() const { return own_ >= 0; }
  bool is_stalled() const { return is_stalled_; }
  bool has_waiting() const { return !waiting_.empty(); }
  /// The proxy has closed, or its sending half.
  bool has_ended() const { return has_ended_; }
  bool was_reset() const { return was_reset_; }
  const std::string& sent() const { return sent_; }  ///< what the socket took
  const std::string& received() const { return received_; }
  std::size_t memory() const;

 private:
  friend class Network;
  bool move_out();
  bool move_in();

  int own_;
  int other_;  ///< the proxy's, as long as it has it
  bool ends_ = false;
  bool is_stalled_ = false;
  bool has_ended_ = false;
  bool was_reset_ = false;  ///< by the proxy
  std::string waiting_, sent_, received_;
};

class Network {
 public:
  enum class Connecting : std::uint8_t { succeeds, is_refused, hangs };

  static Network& get();
  /// As new.
  void reset(bool small_buffers);
  /// A connection to the proxy; `other` is the proxy's end.
  std::unique_ptr<End> make_client(int& other);

  void advance(Duration by) { now_us_ += by.count(); }
  std::int64_t now_us() const { return now_us_; }
  Connecting connecting = Connecting::succeeds;
  /// Connections the proxy made, in their order.
  std::vector<std::unique_ptr<End>>& upstreams() { return upstreams_; }

  // The calls that the linker redirects to this object.
  int socket();
  int connect(int descriptor);
  bool is_broken(int descriptor) const;
  void mark_reset(int descriptor);

 private:
  friend class End;
  struct Known {
    End* end = nullptr;
    bool is_broken = false;
  };
  std::unique_ptr<End> make_pair();
  Known& known(int descriptor);

  bool small_buffers_ = false;
  std::int64_t now_us_ = 0;
  std::vector<Known> known_;  ///< by the proxy's descriptor
  std::vector<std::unique_ptr<End>> unconnected_;
  std::vector<std::unique_ptr<End>> upstreams_;
};

}  // namespace weir::fuzz
