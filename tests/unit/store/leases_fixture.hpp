// A chain that leases, and keys that become hot.
#pragma once

#include "catch.hpp"
#include "store/leases.hpp"
#include "unit/store/chain_fixture.hpp"

namespace weir::store::test {

struct LeasesFixture : ChainFixture {
  explicit LeasesFixture(int share = 50, std::size_t workers = 1) {
    chain().leases().use({.share = share, .workers = workers}, epoch);
  }
  Claim leased(std::uint64_t who = 1, std::int64_t cost = 1, std::uint32_t policy_id = 0) {
    Claim result = shared(limit, who, policy_id);
    result.demand.cost = cost;
    result.lease = &units;
    return result;
  }
  /// A request that the remote store answers at once.
  void admit(std::vector<Claim> claims, Duration after) {
    Request request(std::move(claims));
    serve(request, after);
    REQUIRE(request.admitted());
  }
  /// Requests until the key is hot; the last one has caused a question for units.
  void heat(std::uint64_t who = 1, Duration after = 0s) {
    for (std::uint32_t i = 0; i < Lease::hot_requests; ++i)
      admit({leased(who)}, after);
  }
  std::int64_t left(std::uint64_t who = 1) {
    Claim look = leased(who, 0);
    rules::Decision decision;
    remote.server.decide({&look, 1}, remote.server_now, {&decision, 1});
    return decision.remaining;
  }
  /// As Redis would.
  void settle_all() {
    for (Settlement& one : remote.settled) {
      if (one.key.policy_id == 0) one.policy = &limit;  // that of the lease may have ended
    }
    remote.server.settle(remote.settled, remote.server_now);
    remote.settled.clear();
  }

  rules::Policy limit = gcra(100);
  std::shared_ptr<Gauge> units = std::make_shared<Gauge>();
};

}  // namespace weir::store::test
