// The use of nghttp2 that the sessions of both sides share. Only the sources of this room include
// it.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <nghttp2/nghttp2.h>
#include <string_view>
#include <vector>

#include "http/field_section.hpp"
#include "http2/session_core.hpp"

namespace weir::http2 {

inline std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

inline nghttp2_nv pair_of(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {.name = bytes(name),
          .value = bytes(value),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}
nghttp2_nv pair_of(const http::Field& field);

/// An empty list of pairs, in memory that a thread uses again. Only one is in use at a time.
std::vector<nghttp2_nv>& spare_pairs();

/// The types of RFC 9113 are 0 to 9.
inline constexpr int first_unknown_type = NGHTTP2_CONTINUATION + 1;

struct FreeOption {
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};
struct FreeCallbacks {
  void operator()(nghttp2_session_callbacks* callbacks) const {
    nghttp2_session_callbacks_del(callbacks);
  }
};
using Callbacks = std::unique_ptr<nghttp2_session_callbacks, FreeCallbacks>;

/// The options of all sessions.
const nghttp2_option* session_option();
/// Their memory: the pool of the thread that calls nghttp2.
nghttp2_mem* session_memory();

struct SessionCore::SharedCallbacks {
  static Stream* stream(nghttp2_session* native, std::int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(native, id));
  }

  template <class Function>
  static int guarded(Function function) {
    try {
      return function();
    } catch (const std::exception&) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  /// Passes a frame that was received to `Self::take_frame`.
  template <class Self>
  static int pass_frame(nghttp2_session* native, const nghttp2_frame* frame, void* user) {
    return guarded([&] {
      Self::take_frame(Self::session(user), *frame, stream(native, frame->hd.stream_id));
      return 0;
    });
  }

  static int on_header(nghttp2_session* native, const nghttp2_frame* frame,
                       const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                       std::size_t value_size, std::uint8_t flags, void* user);
  static int on_invalid_header(nghttp2_session* native, const nghttp2_frame* frame,
                               const std::uint8_t* name, std::size_t name_size,
                               const std::uint8_t* value, std::size_t value_size,
                               std::uint8_t flags, void* user);
  static int on_data(nghttp2_session* native, std::uint8_t flags, std::int32_t id,
                     const std::uint8_t* bytes, std::size_t size, void* user);
  static ssize_t read_output(nghttp2_session* native, std::int32_t id, std::uint8_t* to,
                             std::size_t most, std::uint32_t* flags, nghttp2_data_source* source,
                             void* user);
  /// Makes callbacks with those above.
  static Callbacks make();
  /// The source of a body for nghttp2.
  static nghttp2_data_provider body() {
    return {.source = {.ptr = nullptr}, .read_callback = read_output};
  }
};

}  // namespace weir::http2
