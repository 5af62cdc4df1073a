#include "app/workers.hpp"

#include <new>
#include <utility>

#include "base/random.hpp"
#include "loop/calls.hpp"

namespace weir::app {

void Workers::open(std::vector<GenerationPlan> plans) {
  for (GenerationPlan& plan : plans) {
    const std::size_t index = workers_.size();
    workers_.push_back(std::make_unique<Worker>(shared_, index, std::move(plan), random_seed()));
  }
}

void Workers::start(std::function<void()> listening) {
  for (auto& worker : workers_) {
    worker->start([this, listening] {
      if (++listening_ == workers_.size()) listening();
    });
  }
}

void Workers::apply(std::vector<GenerationPlan> plans,
                    std::function<void(std::vector<std::string>)> applied) {
  struct Progress {
    std::size_t pending;
    std::vector<std::string> problems;
  };
  const auto progress = std::make_shared<Progress>(Progress{workers_.size(), {}});
  const auto note = [progress, applied = std::move(applied)](const std::string& problem) {
    if (!problem.empty()) progress->problems.push_back(problem);
    if (--progress->pending == 0) applied(std::move(progress->problems));
  };
  for (std::size_t i = 0; i < plans.size(); ++i) {
    workers_[i]->apply(std::move(plans[i]), [this, note](const std::string& problem) {
      loop::post(io_, [note, problem] { note(problem); });
    });
  }
}

void Workers::copy_traffic(const std::vector<std::shared_ptr<decision::TrafficCopy>>& copies,
                           std::function<void()> done) {
  const auto pending = std::make_shared<std::size_t>(workers_.size());
  const auto note = [pending, done = std::move(done)] {
    if (--*pending == 0) done();
  };
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    auto copy = i < copies.size() ? copies[i] : nullptr;
    workers_[i]->post([this, note, copy = std::move(copy)](proxy::Context& context) {
      context.traffic_copy = copy;
      loop::post(io_, note);
    });
  }
}

void Workers::drop_unread(std::shared_ptr<const void> content) {
  for (auto& worker : workers_)
    worker->post([this, kept = content](proxy::Context&) mutable {
      loop::post(io_, [kept = std::move(kept)] {});
    });
}

/// Begins `step` on each worker, and calls `then` on the server's loop when it is done on all.
void Workers::on_all(void (Worker::*step)(std::function<void()>), std::function<void()> then) {
  const auto pending = std::make_shared<std::size_t>(workers_.size());
  const auto note = [pending, then = std::move(then)] {
    if (--*pending == 0) then();
  };
  for (auto& worker : workers_)
    (worker.get()->*step)([this, note] { loop::post(io_, note); });
}

void Workers::announce_stop() {
  for (auto& worker : workers_)
    worker->post([](proxy::Context& context) { context.announce_stop(); });
}

void Workers::drain(std::function<void()> drained) {
  on_all(&Worker::drain, std::move(drained));
}

void Workers::end(std::function<void()> ended) {
  on_all(&Worker::end, std::move(ended));
}

void Workers::abort() {
  for (auto& worker : workers_)
    worker->abort();
}

void Workers::join() {
  for (auto& worker : workers_)
    worker->join();
}

void Workers::read_top_keys(std::function<void(std::vector<limiter::TopCounts>)> done) {
  const auto all = std::make_shared<std::vector<limiter::TopCounts>>();
  auto note = [this, all, done = std::move(done)](limiter::TopCounts&& counts) {
    all->push_back(std::move(counts));
    if (all->size() == workers_.size()) done(std::move(*all));
  };
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    // Moved, so that `done` is destroyed on the loop of the caller.
    workers_[i]->post([this, i, note](proxy::Context&) mutable {
      try {
        auto counts = shared_.top_keys[i].read(shared_.clock.now());
        loop::post(io_, [note = std::move(note), counts = std::move(counts)]() mutable {
          note(std::move(counts));
        });
      } catch (const std::bad_alloc&) {
        // The caller does not wait forever.
      }
    });
  }
}

WithShared Workers::with_shared() const {
  return [this](auto task) { workers_.front()->with_shared(std::move(task)); };
}

}  // namespace weir::app
