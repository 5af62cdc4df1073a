#include "store/link.hpp"

#include "catch.hpp"
#include "unit/store/fake_store.hpp"

namespace weir::store::test {
namespace {

/// A link that overrides only what it must.
struct Passing final : Link {
  explicit Passing(Store& next) : Link(next) {}
  std::optional<Result> acquire(Acquisition& acquisition, Completion& completion,
                                Instant now) override {
    return next_.acquire(acquisition, completion, now);
  }
};

struct Owner {
  void answer(Forwarded<Owner>& from, const Result& its_result, Instant now) {
    forwarded = &from;
    result = its_result;
    at = now;
  }
  Forwarded<Owner>* forwarded = nullptr;
  Result result;
  Instant at{};
};

}  // namespace

TEST_CASE("A link passes on what it does not override") {
  FakeStore remote;
  Passing link(remote);
  Acquisition acquisition;
  Received received;
  CHECK_FALSE(link.peek(acquisition, received, epoch));
  CHECK_FALSE(link.forget({}, received, epoch));
  CHECK(remote.peeks == 1);
  CHECK(remote.forgotten == 1);
  REQUIRE(remote.pending.size() == 2);
  CHECK(remote.pending[0].acquisition == &acquisition);
  CHECK(remote.pending[0].completion == &received);
  CHECK(remote.pending[1].completion == &received);
  Settlement settlement;
  settlement.held = 3;
  link.settle({&settlement, 1}, epoch + 1s);
  REQUIRE(remote.settled.size() == 1);
  CHECK(remote.settled[0].held == 3);
  CHECK(remote.settled_at == epoch + 1s);
}

TEST_CASE("A link returns results that are there at once") {
  FakeStore remote;
  remote.at_once = true;
  remote.fails_at_once = Error::loading;
  Passing link(remote);
  Acquisition acquisition;
  Received received;
  CHECK(link.peek(acquisition, received, epoch).value().error == Error::loading);
  CHECK(link.forget({}, received, epoch).value().error == Error::loading);
  CHECK(received.times == 0);
}

TEST_CASE("The result of a forwarded acquisition goes to its owner") {
  Owner owner;
  Forwarded<Owner> forwarded(owner);
  const Result result{.admitted = true, .decider = Decider::redis, .decided = 1};
  forwarded.complete(result, epoch + 2s);
  CHECK(owner.forwarded == &forwarded);
  CHECK(owner.result == result);
  CHECK(owner.at == epoch + 2s);
}

}  // namespace weir::store::test
