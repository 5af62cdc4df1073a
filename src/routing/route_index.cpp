#include "routing/route_index.hpp"

#include <iterator>
#include <limits>
#include <map>

namespace weir::routing {
namespace {

/// A branch or a list with at most this many routes is not divided: trying them is cheaper.
constexpr std::size_t few = 4;
/// Bounds the recursion; deeper patterns are tried one after the other.
constexpr std::size_t most_levels = 32;

}  // namespace

/// Divides routes by their segments, level by level.
struct RouteIndex::Builder {
  RouteIndex& index;

  List list_of(const Routes& entries) {
    List list{.all = add(entries), .is_by_host = false};
    const auto has_host = [](const Entry& entry) { return entry.match->host.has_value(); };
    list.is_by_host = entries.size() > few && std::any_of(entries.begin(), entries.end(), has_host);
    if (list.is_by_host) divide_by_host(list, entries);
    return list;
  }

  Number node_of(const Routes& entries, std::size_t level) {
    const auto number = static_cast<Number>(index.nodes_.size());
    index.nodes_.emplace_back();
    Node node;
    node.lowest = entries.empty() ? std::numeric_limits<Route>::max() : entries.front().route;
    node.is_split = entries.size() > few && level < most_levels;
    if (node.is_split) {
      divide(number, node, entries, level);
    } else {
      node.always = list_of(entries);
    }
    index.nodes_[number] = node;
    return number;
  }

 private:
  Range add(const Routes& entries) {
    const Range range{.begin = static_cast<Number>(index.routes_.size()),
                      .size = static_cast<Number>(entries.size())};
    std::transform(entries.begin(), entries.end(), std::back_inserter(index.routes_),
                   [](const Entry& entry) { return entry.route; });
    return range;
  }

  void divide_by_host(const List& list, const Routes& entries) {
    std::map<HostIndex::Number, Routes> by_host;
    for (const Entry& entry : entries)
      by_host[entry.match->host ? index.hosts_.add(*entry.match->host) : HostIndex::any].push_back(
          entry);
    for (const auto& [host, routes] : by_host) {
      index.groups_by_host_.add(list.all.begin, host, static_cast<Number>(index.groups_.size()));
      index.groups_.push_back(add(routes));
    }
  }

  void divide(Number number, Node& node, const Routes& entries, std::size_t level) {
    using Kind = PathPattern::Kind;
    Routes always;
    Routes ends;
    Routes wild;
    std::map<Number, Routes> literals;
    for (const Entry& entry : entries) {
      const auto& path = entry.match->path;
      if (!path ||
          (level < path->segments().size() && path->segments()[level].kind == Kind::rest)) {
        always.push_back(entry);
      } else if (level == path->segments().size()) {
        ends.push_back(entry);
      } else if (const auto& segment = path->segments()[level]; segment.kind == Kind::literal) {
        literals[hash_of(segment.literal)].push_back(entry);
      } else {
        wild.push_back(entry);
      }
    }
    node.always = list_of(always);
    node.ends = list_of(ends);
    node.has_literals = !literals.empty();
    if (!wild.empty()) node.wild = node_of(wild, level + 1);
    for (const auto& [hash, routes] : literals)
      index.children_.add(number, hash, node_of(routes, level + 1));
  }
};

RouteIndex::RouteIndex(const std::vector<Entry>& entries) {
  Builder{*this}.node_of(entries, 0);
  hosts_.link();
  is_one_list_ = nodes_.size() == 1 && !nodes_.front().is_split;
}

}  // namespace weir::routing
