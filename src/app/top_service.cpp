#include "app/top_service.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "loop/calls.hpp"

namespace weir::app {
namespace {

template <class Entries>
std::vector<std::string_view> running_names(const Entries& entries) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const auto& entry : entries)
    names.push_back(entry.name);
  return names;
}

status::TopKeys shown(const TopList& list) {
  const auto count = [](const TopKey& key, KeyEvent event) {
    return key.counts[static_cast<std::size_t>(event)];
  };
  status::TopKeys shown{.window = list.window};
  for (const TopKey& key : list.keys) {
    shown.keys.push_back({.identity = key.identity,
                          .policy = key.policy,
                          .route = key.route,
                          .requests = count(key, KeyEvent::request).most,
                          .denied = count(key, KeyEvent::denial).most,
                          .requests_error = count(key, KeyEvent::request).error,
                          .denied_error = count(key, KeyEvent::denial).error});
    append_hex(shown.keys.back().hash, key.hash);
  }
  return shown;
}

}  // namespace

TopNames TopService::names() const {
  return {.policies = with_.running.policy_names(),
          .routes = with_.running.route_names(),
          .identities = with_.running.identity_names()};
}

void TopService::read(const TopQuery& query, std::function<void(TopList)> done) const {
  with_.read_workers(
      [this, query, done = std::move(done)](std::vector<limiter::TopCounts> workers) {
        done(make_top_list(std::move(workers), query, names(), with_.clock.now()));
      });
}

admin::ReadTopKeys TopService::for_status_page() {
  return [this](std::function<void(status::TopKeys)> done) {
    loop::post(with_.io, [this, done = std::move(done)] {
      if (answers_.is_stopped()) return;
      read({.by = KeyEvent::denial}, [done](const TopList& list) { done(shown(list)); });
    });
  };
}

admin::AdminEndpoint TopService::endpoint() {
  return {.path = "/v1/top",
          .methods = "GET, HEAD",
          .handle = posted(with_.io, *this),
          .parameters = {"GET, HEAD", top_parameters}};
}

void TopService::handle(const admin::AdminCall& call, admin::Reply reply) {
  if (answers_.is_stopped()) return reply(PendingAnswers::draining());
  const auto config = with_.running.config();
  const TopNames all = names();
  const auto query =
      read_top_query(call.query, {.policies = running_names(config->limiter.policies),
                                  .routes = running_names(config->proxy.routes),
                                  .names = all});
  if (!query) return reply(admin::problem_answer(422, query.error().message));
  const auto begun = std::make_shared<PendingAnswers::Call>(with_.io, std::move(reply));
  answers_.add(begun, with_.longest_wait,
               admin::problem_answer(503, "the workers are busy; repeat the request"));
  read(*query, [this, begun](const TopList& list) {
    if (begun->is_over()) return;
    answers_.answer(*begun, {.content_type = "application/json", .body = json_of(list) + '\n'});
  });
}

}  // namespace weir::app
