// A link of the chain: denies what Redis has denied lately, without asking again (ADR 0014).
//
// Belongs to one worker.
#pragma once

#include "store/known_denials.hpp"
#include "store/reused.hpp"
#include "store/store.hpp"

namespace weir::store {

class Denials final : public Store {
 public:
  Denials(Store& next, KnownDenials& known) : next_(next), known_(known) {}

  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override;
  std::optional<Result> peek(Acquisition& acquisition, Completion& completion,
                             Instant now) override {
    return next_.peek(acquisition, completion, now);
  }
  std::optional<Result> forget(const Key& key, Completion& completion, Instant now) override {
    known_.forget(key);
    return next_.forget(key, completion, now);
  }
  void settle(std::span<const Settlement> settlements, Instant now) override {
    next_.settle(settlements, now);
  }

 private:
  struct Asked final : Completion {
    explicit Asked(Denials& its_link) : link(its_link) {}
    void complete(const Result& result, Instant now) noexcept override {
      link.answer(*this, result, now);
    }
    Denials& link;
    Acquisition* acquisition = nullptr;
    Completion* caller = nullptr;
  };

  void answer(Asked& asked, const Result& result, Instant now);
  void note(const Acquisition& acquisition, const Result& result, Instant now);

  Store& next_;
  KnownDenials& known_;
  Reused<Asked> asked_;
};

}  // namespace weir::store
