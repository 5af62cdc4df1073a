#include "cli/log_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>
#include <zlib.h>
#include <zstd.h>

namespace weir::cli {
namespace {

constexpr std::size_t piece_size = 256 * 1024;

Problem problem_of(int error) {
  return {std::generic_category().message(error)};
}

/// Turns compressed bytes into the log. Takes them from `in`; returns the bytes written to `out`.
class Decoder {
 public:
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;
  virtual Result<std::size_t> decode(std::string_view& in, std::vector<char>& out) = 0;
  /// True if the data may end here.
  virtual bool is_whole() const = 0;
};

/// RFC 1952. A file may have several members one after the other. Zeros after a member are padding,
/// as for gzip(1): archives of tapes have them.
class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() { is_usable_ = ::inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK; }
  ~GzipDecoder() override { ::inflateEnd(&stream_); }

  Result<std::size_t> decode(std::string_view& in, std::vector<char>& out) override {
    if (!is_usable_) return problem_of(ENOMEM);
    if (is_whole_) {
      in.remove_prefix(std::min(in.find_first_not_of('\0'), in.size()));
      if (in.empty()) return 0;
      ::inflateReset(&stream_);
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // NOLINT
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      return Problem{"the gzip data is damaged"};
    is_whole_ = result == Z_STREAM_END;
    in.remove_prefix(in.size() - stream_.avail_in);
    return out.size() - stream_.avail_out;
  }
  bool is_whole() const override { return is_whole_; }

 private:
  z_stream stream_{};
  bool is_usable_ = false;
  bool is_whole_ = false;
};

/// RFC 8878. A file may have several frames one after the other.
class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : stream_(::ZSTD_createDStream()) {}
  ~ZstdDecoder() override { ::ZSTD_freeDStream(stream_); }

  Result<std::size_t> decode(std::string_view& in, std::vector<char>& out) override {
    if (stream_ == nullptr) return problem_of(ENOMEM);
    if (is_whole_ && in.empty()) return 0;
    ZSTD_inBuffer from{.src = in.data(), .size = in.size(), .pos = 0};
    ZSTD_outBuffer to{.dst = out.data(), .size = out.size(), .pos = 0};
    const std::size_t result = ::ZSTD_decompressStream(stream_, &to, &from);
    if (::ZSTD_isError(result) != 0)
      return Problem{std::string("the zstd data cannot be read: ") + ::ZSTD_getErrorName(result)};
    is_whole_ = result == 0;
    in.remove_prefix(from.pos);
    return to.pos;
  }
  bool is_whole() const override { return is_whole_; }

 private:
  ZSTD_DStream* stream_;
  bool is_whole_ = false;
};

/// nullptr: the file is plain.
std::unique_ptr<Decoder> decoder_of(std::string_view begin) {
  using namespace std::string_view_literals;
  if (begin.starts_with("\x1f\x8b"sv)) return std::make_unique<GzipDecoder>();
  if (begin.starts_with("\x28\xb5\x2f\xfd"sv)) return std::make_unique<ZstdDecoder>();
  return nullptr;
}

}  // namespace

struct LogFile::State {
  State() : raw(piece_size) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (descriptor > STDIN_FILENO) ::close(descriptor);
  }

  /// Reads the next bytes of the file into `left`, at least `least` unless it ends.
  Result<void> fill(std::size_t least) {
    std::size_t filled = 0;
    while (filled < least) {
      const ssize_t count = ::read(descriptor, raw.data() + filled, raw.size() - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return problem_of(errno);
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
    }
    position += filled;
    left = {raw.data(), filled};
    return {};
  }

  Result<std::string_view> decode() {
    for (;;) {
      const auto count = decoder->decode(left, decoded);
      if (!count) return count.error();
      if (*count > 0) return std::string_view(decoded.data(), *count);
      if (!left.empty()) continue;
      if (const auto filled = fill(1); !filled) return filled.error();
      if (!left.empty()) continue;
      if (!decoder->is_whole()) return Problem{"the compressed data is cut off"};
      return std::string_view();
    }
  }

  int descriptor = -1;
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  bool has_begun = false;
  std::vector<char> raw;
  std::string_view left;  ///< of `raw`, not decoded
  std::unique_ptr<Decoder> decoder;
  std::vector<char> decoded;
};

LogFile::LogFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
LogFile::~LogFile() = default;

Result<std::unique_ptr<LogFile>> LogFile::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->descriptor = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (state->descriptor < 0) return problem_of(errno);
  struct stat status {};
  if (::fstat(state->descriptor, &status) != 0) return problem_of(errno);
  if (S_ISDIR(status.st_mode)) return problem_of(EISDIR);
  if (S_ISREG(status.st_mode)) state->size = static_cast<std::uint64_t>(status.st_size);
  return std::unique_ptr<LogFile>(new LogFile(std::move(state)));
}

Result<std::string_view> LogFile::read() {
  State& state = *state_;
  if (!state.has_begun) {
    state.has_begun = true;
    constexpr std::size_t magic_size = 4;
    if (const auto filled = state.fill(magic_size); !filled) return filled.error();
    state.decoder = decoder_of(state.left);
    if (!state.decoder) return state.left;
    state.decoded.resize(2 * piece_size);
  }
  if (state.decoder) return state.decode();
  if (const auto filled = state.fill(1); !filled) return filled.error();
  return state.left;
}

std::uint64_t LogFile::position() const {
  return state_->position;
}

std::uint64_t LogFile::size() const {
  return state_->size;
}

}  // namespace weir::cli
