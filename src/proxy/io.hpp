// The types all I/O of a worker uses. Concrete executors, no any_io_executor: it costs 0.5 to 1 us
// a request.
#pragma once

#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

namespace weir::proxy {

namespace asio = boost::asio;
using boost::system::error_code;

using Executor = asio::io_context::executor_type;
template <class T = void>
using Task = asio::awaitable<T, Executor>;
/// A stream socket of any family: TCP and unix sockets are one type, so a session is written once.
using Socket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

/// Completion token: suspends the task and stores the error in `ec` instead of throwing.
inline auto into(error_code& ec) {
  return asio::redirect_error(asio::use_awaitable_t<Executor>{}, ec);
}

/// Lets everything else that is ready run first. Before a read it saves the system call that finds
/// nothing: what is waited for often arrives meanwhile.
inline auto yield_to_others() {
  return asio::post(asio::use_awaitable_t<Executor>{});
}

/// Starts a task beside the running one. Nothing is meant to throw after start-up but the
/// allocator: that ends the process, loudly, rather than leave behind a task that others wait for.
inline void spawn(asio::io_context& io, Task<> task) {
  asio::co_spawn(io.get_executor(), std::move(task), [](const std::exception_ptr& error) noexcept {
    if (error) std::rethrow_exception(error);
  });
}

inline asio::const_buffer bytes_of(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace weir::proxy
