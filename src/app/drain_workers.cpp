#include "app/drain_workers.hpp"

#include <utility>

#include <boost/asio/post.hpp>

namespace weir::app {
namespace {

using Workers = std::vector<std::unique_ptr<Worker>>;
using Step = void (Worker::*)(std::function<void()>);

/// Begins `step` on each worker, and calls `then` on `io` when it is done on all.
void on_all(Workers& workers, boost::asio::io_context& io, Step step, std::function<void()> then) {
  const auto left = std::make_shared<std::size_t>(workers.size());
  const auto done = [left, then = std::move(then)] {
    if (--*left == 0) then();
  };
  for (auto& worker : workers)
    (worker.get()->*step)([&io, done] { boost::asio::post(io, done); });
}

}  // namespace

void drain_workers(Workers& workers, boost::asio::io_context& io, std::function<void()> ended) {
  on_all(workers, io, &Worker::drain,
         [&workers, &io, ended = std::move(ended)] { on_all(workers, io, &Worker::end, ended); });
}

}  // namespace weir::app
