// A long list of counters, of which few change in a second: the present entries, and for those that
// have changed their values at two earlier instants. Work and memory beyond one entry each are in
// proportion to what changes. Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::status {

/// Entry: has a `name` that is unique in the list, and `==`.
template <class Entry>
class History {
 public:
  /// The earlier values of an entry that has changed since the first instant.
  struct Changed {
    std::size_t place = 0;  ///< in now()
    Entry base{}, next{};   ///< at the first and at the second instant
  };

  /// The entries in the order of the configuration.
  const std::vector<Entry>& now() const { return now_; }
  /// In no order. The other entries have their present values since the first instant.
  const std::vector<Changed>& changed() const { return changed_; }
  bool is_changed(std::size_t place) const { return place_in_changed_[place] != none; }

  /// Replaces all entries; earlier values are matched by name. An entry with a new name had counted
  /// nothing. Changes nothing if it throws.
  void replace(std::vector<Entry> entries) {
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < now_.size(); ++i)
      places.emplace(now_[i].name, i);
    std::vector<Changed> changed;
    std::vector<std::size_t> place_in_changed(entries.size(), none);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      Changed one{.place = i};
      if (const auto found = places.find(entries[i].name); found != places.end())
        std::tie(one.base, one.next) = earlier(found->second);
      if (one.base == entries[i] && one.next == entries[i]) continue;
      place_in_changed[i] = changed.size();
      changed.push_back(std::move(one));
    }
    now_ = std::move(entries);
    changed_ = std::move(changed);
    place_in_changed_ = std::move(place_in_changed);
  }

  /// Gives the entry at this place another value.
  void set(std::size_t place, Entry entry) {
    if (!is_changed(place)) {
      changed_.push_back({.place = place, .base = now_[place], .next = now_[place]});
      place_in_changed_[place] = changed_.size() - 1;
    }
    now_[place] = std::move(entry);
  }

  /// Both instants are now.
  void restart() {
    changed_.clear();
    place_in_changed_.assign(now_.size(), none);
  }
  /// The second instant becomes the first, and now the second.
  void advance() {
    keep_changed([this](Changed& one) { one.base = std::exchange(one.next, now_[one.place]); });
  }
  /// The second instant becomes the first, too.
  void join() {
    keep_changed([](Changed& one) { one.base = one.next; });
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::pair<Entry, Entry> earlier(std::size_t place) const {
    if (!is_changed(place)) return {now_[place], now_[place]};
    const Changed& one = changed_[place_in_changed_[place]];
    return {one.base, one.next};
  }

  /// Drops the values of entries that have not changed since the new first instant.
  template <class Move>
  void keep_changed(Move&& move) {
    std::size_t kept = 0;
    for (Changed& one : changed_) {
      move(one);
      const bool is_same = one.base == now_[one.place];
      place_in_changed_[one.place] = is_same ? none : kept;
      if (is_same) continue;
      if (&changed_[kept] != &one) changed_[kept] = std::move(one);
      ++kept;
    }
    changed_.resize(kept);
  }

  std::vector<Entry> now_;
  std::vector<Changed> changed_;
  std::vector<std::size_t> place_in_changed_;  ///< by place in now_
};

}  // namespace weir::status
