#include "store/denials.hpp"

namespace weir::store {

std::optional<Result> Denials::acquire(Acquisition& acquisition, Completion& completion,
                                       Instant now) {
  if (const auto denied = known_.recall(acquisition, now)) return denied;
  auto asked = asked_.borrow(*this);
  asked->acquisition = &acquisition;
  asked->caller = &completion;
  const auto result = next_.acquire(acquisition, *asked, now);
  if (!result) {
    asked.keep();
    return std::nullopt;
  }
  note(acquisition, *result, now);
  return result;
}

void Denials::answer(Forwarded<Denials>& asked, const Result& result, Instant now) {
  note(*asked.acquisition, result, now);
  Completion& caller = *asked.caller;
  asked_.give_back(asked);
  caller.complete(result, now);
}

void Denials::note(const Acquisition& acquisition, const Result& result, Instant now) {
  if (result.error == Error::none && result.decider == Decider::redis)
    known_.remember(acquisition, result.admitted, now);
}

}  // namespace weir::store
