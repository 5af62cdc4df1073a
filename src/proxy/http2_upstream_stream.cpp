#include "proxy/http2_upstream_stream.hpp"

#include "http/framing.hpp"
#include "http/problem.hpp"

namespace weir::proxy {
namespace {

constexpr std::uint8_t version_of_http2 = 20;

static_assert(upstream::Http2Stream::most_of_piece <= gather_limit,
              "a piece is copied, because its place moves when more arrives");

}  // namespace

void Http2UpstreamStream::begin(const http::ReceivedRequest& request,
                                const http::ForwardedHop& hop) {
  const auto pseudo = http::add_request_fields(stream_.fields(), request, hop);
  // A call ends by an empty DATA frame: grpc-go does not answer one that ends by its head (gRPC
  // over HTTP/2, "Data Frames").
  stream_.begin(pseudo, is_secure_ ? "https" : "http", request.is_grpc_call);
}

UpstreamStream::HeadState Http2UpstreamStream::take_head(Head& head) {
  const bool has_head = stream_.take_head(received_);
  if (!has_head) return stream_.is_malformed() ? HeadState::malformed : HeadState::incomplete;
  const int status = received_.status;
  // HTTP/2 has no upgrade (RFC 9113 section 8.6).
  if (received_.is_invalid || status == 101) return HeadState::malformed;
  const auto framing =
      http::response_framing(phase_.request.view.method, status, 1, received_.fields);
  if (!framing) return HeadState::malformed;
  head.line = {
      .status = status, .reason = http::reason_phrase(status), .version = version_of_http2};
  head.fields = received_.fields;
  head.connection.clear();
  head.body = *framing;
  // A stream has an end of its own, so a body without a length is as one in chunks.
  if (framing->kind == http::Framing::Kind::until_close)
    head.body.kind = http::Framing::Kind::chunked;
  head.may_have_trailers = received_.has_body;
  return HeadState::complete;
}

BodyState Http2UpstreamStream::pull(std::string_view& piece) {
  piece = stream_.take_body();
  if (!piece.empty()) return BodyState::payload;
  if (!stream_.has_ended())
    return stream_.is_malformed() ? BodyState::malformed : BodyState::exhausted;
  if (auto* const trailers = std::exchange(trailers_, nullptr)) {
    for (const http::Field field : stream_.trailers())
      trailers->add(
          {.is_never_indexed = field.is_never_indexed, .name = field.name, .value = field.value});
  }
  return BodyState::ended;
}

UpstreamStream::Cut Http2UpstreamStream::cut() const {
  using By = http2::StreamCut::By;
  const http2::StreamCut cut = http2::cut_of(connection_.session(), stream_);
  switch (cut.by) {
    case By::refusal:
      return {Failure::upstream_refused, cut.code};
    case By::reset:
      return {Failure::upstream_reset, cut.code};
    case By::goaway:
      return {Failure::upstream_goaway, cut.code};
    case By::connection:
      break;
  }
  return {};
}

}  // namespace weir::proxy
