// A session of HTTP/2: for any bytes of a client behind the preface, the requests do not depend on
// how the bytes are divided, the bounds on heads hold, and every response ends. The first byte
// determines the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http2/session.hpp"

namespace {

using namespace weir;

constexpr std::size_t most_head = 2000;
constexpr std::size_t most_streams = 8;

void require_that(bool holds) {
  if (!holds) std::abort();
}

struct Received final : http2::Stream {
  void on_head() override {
    std::vector<http::FieldView> fields;
    head().finish(fields);
    require_that(fields.size() <= 256);
    std::size_t size = 0;
    for (const http::FieldView& field : fields) {
      require_that(!field.name.empty() && !field.name.starts_with(':'));
      size += field.name.size() + field.value.size();
      log.append(field.name).append(1, '\0').append(field.value).append(1, '\0');
    }
    require_that(size <= 2 * most_head);  // crumbs gain separators
    log.append(head().method()).append(1, '\0').append(head().path()).append(1, '\0');
  }
  void on_data(std::string_view bytes) override { body += bytes; }
  void on_end() override { log += "end"; }
  void on_closed() override { ++closed; }
  std::size_t read_output(char* to, std::size_t most) override {
    const std::size_t size = std::min(most, output.size());
    output.copy(to, size);
    output.remove_prefix(size);
    return size;
  }
  bool output_has_ended() const override { return output.empty(); }
  const http::FieldSection& output_trailers() const override { return http::no_fields; }

  std::string log;
  std::string body;
  std::string_view output = "a short response";
  int closed = 0;
};

struct Peer final : http2::StreamSource {
  http2::Stream* open_stream() override {
    std::size_t open = 0;
    for (const auto& stream : streams)
      open += stream->closed == 0 ? 1 : 0;
    if (open >= most_streams) return nullptr;
    return streams.emplace_back(std::make_unique<Received>()).get();
  }
  std::vector<std::unique_ptr<Received>> streams;
};

/// Receives the bytes in pieces of `step` (all at once for 0), then responds to every request.
std::string receive(std::string_view input, std::size_t step) {
  Peer peer;
  http2::Session session(peer,
                         {.max_streams = most_streams, .glitches = 50, .max_head = most_head});
  bool goes_on = session.receive(http2::client_preface);
  for (std::size_t at = 0; goes_on && at < input.size();) {
    const std::size_t size = step == 0 ? input.size() : std::min(step, input.size() - at);
    goes_on = session.receive(input.substr(at, size));
    at += size;
  }
  std::string log;
  for (const auto& stream : peer.streams) {
    log.append(stream->log).append(stream->body).append(1, '\n');
    require_that(stream->closed <= 1);
    if (stream->closed != 0) continue;
    session.consume(*stream, stream->body.size());
    session.respond(*stream, 200, {{"Content-Type", "text/plain"}}, true);
  }
  std::string output;
  require_that(session.append_output(output, 1 << 20));
  require_that(output.size() < 1 << 20);
  return log;
}

/// True if the client says goodbye: how much of the rest of a piece is read then depends on where
/// the piece ends.
bool has_goaway(std::string_view input) {
  constexpr std::size_t head = 9;
  constexpr char goaway = 7;
  while (input.size() >= head) {
    if (input[3] == goaway) return true;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(input[i]); };
    const std::size_t size = head + (std::size_t{byte(0)} << 16U | byte(1) << 8U | byte(2));
    input.remove_prefix(std::min(size, input.size()));
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 16384) return 0;
  const std::string_view input{reinterpret_cast<const char*>(data) + 1, size - 1};
  const std::string whole = receive(input, 0);
  const std::string pieces = receive(input, 1 + data[0] % 64);
  require_that(whole == pieces || has_goaway(input));
  return 0;
}
