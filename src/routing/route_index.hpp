// Finds the routes that may match a path and a host without trying the others.
//
// A trie over the segments of the patterns; routes that share a path are then divided by host. It
// finds a superset, because it compares hashes of segments and does not split a branch with few
// routes. The caller decides which of them match, in the order of their numbers.
//
// Finding a route costs a hash and a lookup for each segment that at least five routes share, and
// does not depend on the number of routes. Methods, headers and addresses are not indexed: routes
// that differ only in them are tried one after the other.
//
// 10,000 routes are indexed in about 20 ms. The index takes 0.9 MB, or 1.6 MB if each route has a
// host of its own (bench/route_table_bench.cpp). Pure; thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "routing/host_index.hpp"
#include "routing/matcher.hpp"
#include "routing/pair_table.hpp"
#include "routing/segments.hpp"

namespace weir::routing {

class RouteIndex {
 public:
  using Route = std::uint32_t;  ///< its number in the table
  struct Entry {
    Route route;
    const Match* match;
  };

  /// `entries` must be in ascending order of their routes; the matches are not used afterwards.
  explicit RouteIndex(const std::vector<Entry>& entries);

  /// The lowest route of [from, to) for which `is_match(route)` returns true; `to` if there is
  /// none. Calls it for routes that may match the path in this reading and the host, and for no
  /// route twice. An empty host may match every host.
  template <class IsMatch>
  Route first(const PathReading& path, std::string_view host, Route from, Route to,
              IsMatch&& is_match) const;

 private:
  using Number = std::uint32_t;
  /// A part of routes_, in ascending order.
  struct Range {
    Number begin = 0;
    Number size = 0;
  };
  struct List {
    Range all;
    bool is_by_host = false;  ///< the routes of one host are in groups_
  };
  struct Node {
    Route lowest = 0;  ///< the lowest route below the node
    bool is_split = false;
    bool has_literals = false;
    Number wild = 0;  ///< the node of "*" and "{name}"; 0: none
    List always;      ///< match any rest of the path, or belong to a node that is not split
    List ends;        ///< match if the path ends here
  };
  using Routes = std::vector<Entry>;
  struct Builder;
  template <class IsMatch>
  class Search;

  static Number hash_of(std::string_view segment) {
    return static_cast<Number>(folded_hash(segment));
  }
  /// 0: no route continues with this segment.
  Number child(Number node, std::string_view segment) const {
    return children_.find(node, hash_of(segment));
  }

  std::vector<Node> nodes_;   ///< the first is the root
  bool is_one_list_ = false;  ///< the root is a single list
  PairTable children_;        ///< by node and hash of the segment
  HostIndex hosts_;
  std::vector<Range> groups_{{}};
  PairTable groups_by_host_;  ///< by the start of a list and the number of a host
  std::vector<Route> routes_;
};

/// A walk through the trie for one request.
template <class IsMatch>
class RouteIndex::Search {
 public:
  Search(const RouteIndex& index, const PathReading& path, std::string_view host, Route from,
         Route to, IsMatch& is_match)
      : index_(index),
        host_(host),
        ends_may_differ_(path.ignores_trailing_slash),
        from_(from),
        best_(to),
        is_match_(is_match) {}

  Route best() const { return best_; }
  Route best_of(const List& list) {
    scan(list.all);
    return best_;
  }

  void visit(Number number, std::string_view path) {
    const Node& node = index_.nodes_[number];
    if (node.lowest >= best_) return;
    if (node.is_split) {
      if (path.empty()) {
        // A pattern that ends in a slash also matches without it.
        if (ends_may_differ_) visit_literal(number, node, {}, path);
        scan(node.ends);
      } else if (path.front() == '/') {
        const std::string_view segment = take_segment(path);
        visit_literal(number, node, segment, path);
        if (node.wild != 0 && !segment.empty()) visit(node.wild, path);
      }
    }
    scan(node.always);
  }

 private:
  void visit_literal(Number number, const Node& node, std::string_view segment,
                     std::string_view path) {
    if (!node.has_literals) return;
    if (const Number child = index_.child(number, segment); child != 0) visit(child, path);
  }
  void scan(const List& list) {
    if (list.all.size == 0) return;
    if (!list.is_by_host || host_.empty()) return scan(list.all);
    if (!is_host_known_) host_number_ = index_.hosts_.find(host_);
    is_host_known_ = true;
    for (HostIndex::Number host = host_number_;; host = index_.hosts_.broader(host)) {
      scan(index_.groups_[index_.groups_by_host_.find(list.all.begin, host)]);
      if (host == HostIndex::any) break;
    }
  }
  void scan(const Range& range) {
    const auto routes = std::span(index_.routes_).subspan(range.begin, range.size);
    auto at = routes.begin();
    if (from_ != 0) at = std::lower_bound(routes.begin(), routes.end(), from_);
    for (; at != routes.end() && *at < best_; ++at) {
      if (is_match_(*at)) best_ = *at;
    }
  }

  const RouteIndex& index_;
  std::string_view host_;
  bool ends_may_differ_;
  bool is_host_known_ = false;
  HostIndex::Number host_number_ = HostIndex::any;
  Route from_;
  Route best_;  ///< only routes below this one are of interest
  IsMatch& is_match_;
};

template <class IsMatch>
RouteIndex::Route RouteIndex::first(const PathReading& path, std::string_view host, Route from,
                                    Route to, IsMatch&& is_match) const {
  Search search(*this, path, host, from, to, is_match);
  if (is_one_list_) return search.best_of(nodes_.front().always);
  search.visit(0, path.ignores_trailing_slash ? without_trailing_slash(path.text) : path.text);
  return search.best();
}

}  // namespace weir::routing
