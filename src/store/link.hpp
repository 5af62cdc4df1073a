// The base of the links of a chain (store/chain.hpp).
#pragma once

#include "store/store.hpp"

namespace weir::store {

/// A store before another one. Passes on the calls that it does not override.
class Link : public Store {
 public:
  explicit Link(Store& next) : next_(next) {}

  std::optional<Result> peek(Acquisition& acquisition, Completion& completion,
                             Instant now) override {
    return next_.peek(acquisition, completion, now);
  }
  std::optional<Result> forget(const Key& key, Completion& completion, Instant now) override {
    return next_.forget(key, completion, now);
  }
  void settle(std::span<const Settlement> settlements, Instant now) override {
    next_.settle(settlements, now);
  }

 protected:
  Store& next_;
};

/// An acquisition that the next store has not decided yet. Its result goes to Owner::answer().
template <class Owner>
struct Forwarded final : Completion {
  explicit Forwarded(Owner& its_owner) : owner(its_owner) {}
  void complete(const Result& result, Instant now) noexcept override {
    owner.answer(*this, result, now);
  }
  Owner& owner;
  Acquisition* acquisition = nullptr;
  Completion* caller = nullptr;
};

}  // namespace weir::store
