// The number of connections that the file descriptor limit of the process allows, downstream and
// upstream together.
//
// One for all workers; thread-safe. Checking and taking are two steps, so each worker may exceed
// the bound by one; the descriptors reserved for the rest of the process cover that.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace weir::loop {

class DescriptorBudget {
 public:
  /// `most` connections at once; `downstream` counts the client connections.
  DescriptorBudget(std::size_t most, const std::atomic<std::size_t>& downstream)
      : most_(most), most_downstream_(most), downstream_(downstream) {}
  DescriptorBudget(const DescriptorBudget&) = delete;
  DescriptorBudget& operator=(const DescriptorBudget&) = delete;

  /// `downstream`: how many of them may be client connections.
  void set_most(std::size_t most, std::size_t downstream) {
    most_.store(most, std::memory_order_relaxed);
    most_downstream_.store(downstream, std::memory_order_relaxed);
  }

  std::size_t most_downstream() const { return most_downstream_.load(std::memory_order_relaxed); }
  /// True if no descriptor is left for another connection.
  bool is_spent() const { return used() >= most(); }
  /// True if only the last sixteenth is left, which idle connections must not occupy.
  bool is_short() const { return used() >= most() - most() / 16; }

  /// Counts an upstream connection for as long as this object lives.
  class Share {
   public:
    Share() = default;
    explicit Share(DescriptorBudget& budget) : upstream_(&budget.upstream_) {
      upstream_->fetch_add(1, std::memory_order_relaxed);
    }
    Share(Share&& other) noexcept : upstream_(std::exchange(other.upstream_, nullptr)) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(upstream_, other.upstream_);
      return *this;
    }
    ~Share() {
      if (upstream_ != nullptr) upstream_->fetch_sub(1, std::memory_order_relaxed);
    }

   private:
    std::atomic<std::size_t>* upstream_ = nullptr;
  };

 private:
  std::size_t used() const {
    return downstream_.load(std::memory_order_relaxed) + upstream_.load(std::memory_order_relaxed);
  }

  std::size_t most() const { return most_.load(std::memory_order_relaxed); }

  std::atomic<std::size_t> most_;
  std::atomic<std::size_t> most_downstream_;
  const std::atomic<std::size_t>& downstream_;
  std::atomic<std::size_t> upstream_{0};
};

}  // namespace weir::loop
