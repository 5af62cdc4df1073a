#include "tls/client_hello.hpp"

#include <algorithm>
#include <array>

namespace weir::tls {
namespace {

constexpr std::size_t record_header_size = 5;   // type, version (2), length (2)
constexpr std::size_t message_header_size = 4;  // type, length (3)
constexpr char handshake_record = 22, client_hello = 1;

std::size_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

/// The header of the message, as far as it has arrived: its bytes may lie in several records.
class MessageHeader {
 public:
  void take(std::string_view content) {
    const std::size_t count = std::min(content.size(), bytes_.size() - size_);
    std::copy_n(content.begin(), count, bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += count;
  }
  bool may_be_hello() const { return size_ == 0 || bytes_[0] == client_hello; }
  /// Includes the header; the size of the header alone while it is not complete.
  std::size_t message_size() const {
    if (size_ < message_header_size) return message_header_size;
    const std::string_view bytes(bytes_.data(), bytes_.size());
    return message_header_size +
           (byte_at(bytes, 1) << 16 | byte_at(bytes, 2) << 8 | byte_at(bytes, 3));
  }

 private:
  std::array<char, message_header_size> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace

std::size_t needed_for_hello(std::string_view arrived) {
  if (arrived.size() >= most_of_hello) return 0;
  MessageHeader message;
  std::size_t at = 0, had = 0;  // the position in the records; the bytes of the message
  for (;;) {
    const std::string_view record = arrived.substr(std::min(at, arrived.size()));
    if (!record.empty() && record[0] != handshake_record) return 0;
    std::size_t needed = at + record_header_size;
    if (record.size() >= record_header_size) {
      const std::size_t length = byte_at(record, 3) << 8 | byte_at(record, 4);
      if (length == 0 || length > most_of_hello - record_header_size) return 0;
      needed += length;
      message.take(record.substr(record_header_size, length));
      if (!message.may_be_hello()) return 0;
      had += length;
    }
    if (needed > arrived.size()) return std::min(needed, most_of_hello);
    if (had >= message.message_size()) return 0;
    at = needed;
  }
}

}  // namespace weir::tls
