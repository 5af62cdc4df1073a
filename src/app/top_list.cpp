#include "app/top_list.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "app/query_parameters.hpp"
#include "base/text.hpp"
#include "config/suggest.hpp"
#include "json/write.hpp"

namespace weir::app {
namespace {

using limiter::KeyCounts;
using limiter::RouteKey;

/// A longer list than the counts of one worker has no meaning for a reader.
constexpr std::size_t longest_top_list = 1000;

std::array<KeyCounts, key_event_count> merged_events(std::vector<limiter::TopCounts>& workers) {
  std::array<KeyCounts, key_event_count> events;
  for (std::size_t event = 0; event < key_event_count; ++event) {
    std::vector<KeyCounts> parts;
    for (limiter::TopCounts& worker : workers)
      std::ranges::move(worker.parts[event], std::back_inserter(parts));
    events[event] = merged(std::span<const KeyCounts>(parts));
  }
  return events;
}

bool is_asked_for(const RouteKey& key, const TopQuery& query) {
  return (!query.policy_id || *query.policy_id == key.policy_id) &&
         (!query.route_id || *query.route_id == key.route_id);
}

/// `counts` is sorted by key, as merged() returns it.
TopCount count_of(const RouteKey& key, const KeyCounts& counts) {
  const auto found = std::ranges::lower_bound(counts.entries, key, {}, &KeyCounts::Entry::key);
  if (found == counts.entries.end() || found->key != key)
    return {.most = counts.unseen, .error = counts.unseen};
  return {.most = found->count, .error = found->error};
}

/// A denial and an early retry are requests too: a key has at most as many.
TopCount limited(const TopCount& count, std::uint64_t requests) {
  const std::uint64_t excess = count.most - std::min(count.most, requests);
  return {.most = count.most - excess, .error = count.error - std::min(count.error, excess)};
}

/// A request of a worker that has a newer configuration than the names.
std::string name_of(std::uint32_t id, const std::vector<std::string>& names) {
  return id < names.size() ? names[id] : std::string();
}

/// With three decimals.
std::string seconds_text(Duration duration) {
  const auto ms = to_us(duration) / 1'000;
  const std::string fraction = std::to_string(1'000 + ms % 1'000);
  return std::to_string(ms / 1'000) + '.' + fraction.substr(1);
}

template <class Numbers, class Get>
std::string numbers_of(const Numbers& numbers, Get&& get) {
  json::Object object;
  for (std::size_t event = 0; event < key_event_count; ++event)
    object.number(key_event_names[event], static_cast<std::int64_t>(get(numbers[event])));
  return object.str();
}

std::string entry_json(const TopKey& key) {
  json::Object object;
  object.text("hash", to_hex(key.hash))
      .text("identity", key.identity)
      .text("client", key.client.text())
      .text("policy", key.policy)
      .text("route", key.route);
  for (std::size_t event = 0; event < key_event_count; ++event)
    object.number(key_event_names[event], static_cast<std::int64_t>(key.counts[event].most));
  object.json("error", numbers_of(key.counts, [](const TopCount& count) { return count.error; }));
  return object.str();
}

/// Finds a name of the configuration, and its id.
Result<std::uint32_t> find_id(std::string_view parameter, std::string_view name,
                              const std::vector<std::string_view>& known,
                              const std::vector<std::string>& names) {
  if (std::ranges::find(known, name) != known.end())
    return static_cast<std::uint32_t>(std::ranges::find(names, name) - names.begin());
  return Problem{std::string(parameter) + ": no " + std::string(parameter) + " has the name " +
                 config::in_quotes(name) + config::hint(name, known)};
}

Result<KeyEvent> read_event(std::string_view name) {
  const auto found = std::ranges::find(key_event_names, name);
  if (found != key_event_names.end()) return static_cast<KeyEvent>(found - key_event_names.begin());
  return Problem{"by: expected " + config::list_of(key_event_names) + ", not " +
                 config::in_quotes(name)};
}

}  // namespace

TopList make_top_list(std::vector<limiter::TopCounts> workers, const TopQuery& query,
                      const TopNames& names, Instant now) {
  TopList list{.by = query.by};
  for (const limiter::TopCounts& worker : workers)
    list.window = std::max(list.window, now - worker.since);
  const auto events = merged_events(workers);
  for (std::size_t event = 0; event < key_event_count; ++event) {
    list.total[event] = events[event].total;
    list.unseen[event] = events[event].unseen;
  }
  std::vector<const KeyCounts::Entry*> found;
  for (const auto& entry : events[static_cast<std::size_t>(query.by)].entries) {
    if (is_asked_for(entry.key, query)) found.push_back(&entry);
  }
  // The order of keys with the same count does not change from one list to the next.
  const auto is_before = [](const auto* a, const auto* b) {
    return std::pair(b->count, a->key) < std::pair(a->count, b->key);
  };
  const auto most = static_cast<std::ptrdiff_t>(std::min(query.most, found.size()));
  std::ranges::partial_sort(found, found.begin() + most, is_before);
  found.resize(static_cast<std::size_t>(most));
  for (const auto* const entry : found) {
    TopKey& key = list.keys.emplace_back(
        TopKey{.hash = entry->key.identity,
               .identity = name_of(entry->note.identity_id, names.identities),
               .client = entry->note.client,
               .policy = name_of(entry->key.policy_id, names.policies),
               .route = name_of(entry->key.route_id, names.routes)});
    for (std::size_t event = 0; event < key_event_count; ++event)
      key.counts[event] = limited(count_of(entry->key, events[event]),
                                  event == 0 ? ~std::uint64_t{0} : key.counts[0].most);
  }
  return list;
}

Result<TopQuery> read_top_query(std::string_view query, const TopContext& context) {
  const auto given = read_parameters(query, top_parameters);
  if (!given) return given.error();
  TopQuery read;
  for (const auto& [name, value] : *given) {
    if (name == "by") {
      const auto event = read_event(value);
      if (!event) return event.error();
      read.by = *event;
    } else if (name == "n") {
      const auto most = parse_number<std::size_t>(value);
      if (!most || *most == 0 || *most > longest_top_list) {
        return Problem{"n: expected a whole number from 1 to " + std::to_string(longest_top_list) +
                       ", not " + config::in_quotes(value)};
      }
      read.most = *most;
    } else {
      const bool is_policy = name == "policy";
      const auto id = find_id(name, value, is_policy ? context.policies : context.routes,
                              is_policy ? context.names.policies : context.names.routes);
      if (!id) return id.error();
      (is_policy ? read.policy_id : read.route_id) = *id;
    }
  }
  return read;
}

std::string json_of(const TopList& list) {
  std::vector<std::string> keys;
  for (const TopKey& key : list.keys)
    keys.push_back(entry_json(key));
  const auto itself = [](std::uint64_t number) { return number; };
  return json::Object()
      .text("by", key_event_names[static_cast<std::size_t>(list.by)])
      .json("window", seconds_text(list.window))
      .json("total", numbers_of(list.total, itself))
      .json("unseen", numbers_of(list.unseen, itself))
      .json("keys", json::list_of(keys))
      .str();
}

}  // namespace weir::app
