// How many connections the descriptors of the process allow, those of clients and those to
// upstreams together.
//
// One for all workers; thread-safe. Looking and taking are two steps, so that each worker may go
// one beyond: what is set aside for the rest of the process covers that.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace weir::proxy {

class DescriptorBudget {
 public:
  /// `most` connections at once; `downstream` counts those of clients.
  DescriptorBudget(std::size_t most, const std::atomic<std::size_t>& downstream)
      : most_(most), downstream_(downstream) {}
  DescriptorBudget(const DescriptorBudget&) = delete;
  DescriptorBudget& operator=(const DescriptorBudget&) = delete;

  void set_most(std::size_t most) { most_.store(most, std::memory_order_relaxed); }

  /// There is none for another connection.
  bool is_spent() const { return used() >= most(); }
  /// The last sixteenth is not for connections that are idle.
  bool is_short() const { return used() >= most() - most() / 16; }

  /// A connection to an upstream, for as long as this lives.
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
  const std::atomic<std::size_t>& downstream_;
  std::atomic<std::size_t> upstream_{0};
};

}  // namespace weir::proxy
