// The types of Asio that this room waits with.
#pragma once

#include <chrono>
#include <memory>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

namespace weir::redis {

namespace asio = boost::asio;
using boost::system::error_code;

using Executor = asio::io_context::executor_type;
using SteadyClock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<SteadyClock, asio::wait_traits<SteadyClock>, Executor>;

/// Lets handlers that outlive their object detect that it is gone.
class Presence {
 public:
  using Watch = std::weak_ptr<const void>;
  Watch watch() const { return token_; }
  void end() { token_.reset(); }

 private:
  std::shared_ptr<const void> token_ = std::make_shared<char>('\0');
};

}  // namespace weir::redis
