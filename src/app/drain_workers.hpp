// The end of the workers, in two steps: a report about a hold may arrive at any worker, so none
// ends its holds while another still has a connection.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "app/worker.hpp"

namespace weir::app {

/// Drains all workers, then ends all, then calls `ended` on `io`. `workers` and `io` outlive that.
void drain_workers(std::vector<std::unique_ptr<Worker>>& workers, boost::asio::io_context& io,
                   std::function<void()> ended);

}  // namespace weir::app
