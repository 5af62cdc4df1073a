// Space-Saving: the most frequent keys of a stream, in fixed memory and with a bound on the error
// of each count (Metwally, Agrawal and El Abbadi, "Efficient computation of frequent and top-k
// elements in data streams", 2005).
//
// After n keys, with capacity k: an entry's key has occurred at most `count` and at least
// `count - error` times, no error is above n/k, and each key that has occurred more than n/k times
// has an entry. A key without an entry has occurred at most `unseen` times.
//
// Instead of the paper's list of buckets by count, the entries with the least count are collected
// when one of them has to be replaced. Each collection reads k counts and finds a greater minimum
// than the one before, so there are at most n/k of them: O(1) per key, amortized. A key that has an
// entry costs one lookup and one addition. Allocates in its constructor only. Not thread-safe; a
// summary is a value.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weir {

/// The entries of one stream or of several.
template <class Key, class Note>
struct FrequentKeys {
  struct Entry {
    Key key{};
    Note note{};  ///< of one of the key's occurrences
    std::uint64_t count = 0;
    std::uint64_t error = 0;
  };
  std::vector<Entry> entries{};  ///< in no order
  std::uint64_t total = 0;       ///< the length of the stream
  std::uint64_t unseen = 0;      ///< the most that a key without an entry can have occurred
};

/// Combines summaries of several streams into one of all of them (Agarwal et al., "Mergeable
/// summaries", 2012). Drops no entry, so the guarantees hold with the sum of the lengths as n.
/// Key has an order.
template <class Key, class Note>
FrequentKeys<Key, Note> merged(std::span<const FrequentKeys<Key, Note>> parts) {
  using Entry = typename FrequentKeys<Key, Note>::Entry;
  FrequentKeys<Key, Note> all;
  std::size_t size = 0;
  for (const auto& part : parts) {
    size += part.entries.size();
    all.total += part.total;
    all.unseen += part.unseen;
  }
  // A part without the key adds its `unseen`. It is added for all parts, and taken back for those
  // that have the key.
  std::vector<Entry> each;
  each.reserve(size);
  for (const auto& part : parts) {
    for (Entry entry : part.entries) {
      entry.count -= part.unseen;  // unsigned arithmetic: the sums below are exact
      entry.error -= part.unseen;
      each.push_back(std::move(entry));
    }
  }
  std::ranges::stable_sort(each, {}, &Entry::key);
  for (Entry& entry : each) {
    if (all.entries.empty() || all.entries.back().key != entry.key) {
      entry.count += all.unseen;
      entry.error += all.unseen;
      all.entries.push_back(std::move(entry));
    } else {
      all.entries.back().count += entry.count;
      all.entries.back().error += entry.error;
    }
  }
  return all;
}

template <class Key, class Note>
class SpaceSaving {
 public:
  using Summary = FrequentKeys<Key, Note>;

  /// `capacity`: of entries, at least 1.
  explicit SpaceSaving(std::size_t capacity)
      : heads_(std::bit_ceil(2 * capacity), none), least_(capacity), capacity_(capacity) {
    slots_.reserve(capacity);
    counts_.reserve(capacity);
  }

  /// Counts one occurrence. `hash`: of the key, which those who choose keys cannot predict. `note`
  /// is kept if the key begins an entry.
  void add(const Key& key, std::uint64_t hash, const Note& note) {
    ++total_;
    const auto place = static_cast<std::uint32_t>(hash & (heads_.size() - 1));
    for (std::uint32_t i = heads_[place]; i != none; i = slots_[i].next) {
      if (slots_[i].key == key) {
        ++counts_[i];
        return;
      }
    }
    begin_entry(key, place, note);
  }

  /// Ready for another stream.
  void clear() {
    std::ranges::fill(heads_, none);
    slots_.clear();
    counts_.clear();
    least_size_ = 0;
    total_ = 0;
  }

  Summary summary() const {
    Summary summary{.total = total_};
    summary.entries.reserve(slots_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      summary.entries.push_back({.key = slots_[i].key,
                                 .note = slots_[i].note,
                                 .count = counts_[i],
                                 .error = slots_[i].error});
    }
    if (slots_.size() == capacity_) summary.unseen = *std::ranges::min_element(counts_);
    return summary;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct Slot {
    Key key;
    Note note;
    std::uint64_t error;
    std::uint32_t place;
    std::uint32_t next;  ///< with the same place; none: the last one
  };

  void begin_entry(const Key& key, std::uint32_t place, const Note& note) {
    if (slots_.size() < capacity_) {
      slots_.push_back(
          {.key = key, .note = note, .error = 0, .place = place, .next = heads_[place]});
      counts_.push_back(1);
      heads_[place] = static_cast<std::uint32_t>(slots_.size() - 1);
      return;
    }
    const std::uint32_t i = take_least();
    unlink(i);
    slots_[i] = {
        .key = key, .note = note, .error = counts_[i], .place = place, .next = heads_[place]};
    ++counts_[i];
    heads_[place] = i;
  }

  /// Returns an entry with the least count.
  std::uint32_t take_least() {
    for (;;) {
      while (least_size_ > 0) {
        const std::uint32_t i = least_[--least_size_];
        if (counts_[i] == least_count_) return i;
      }
      collect_least();
    }
  }

  void collect_least() {
    least_count_ = counts_[0];
    for (std::uint32_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] < least_count_) {
        least_count_ = counts_[i];
        least_size_ = 0;
      }
      least_[least_size_] = i;
      least_size_ += counts_[i] == least_count_ ? 1 : 0;
    }
  }

  void unlink(std::uint32_t i) {
    std::uint32_t* link = &heads_[slots_[i].place];
    while (*link != i)
      link = &slots_[*link].next;
    *link = slots_[i].next;
  }

  std::vector<std::uint32_t> heads_;  ///< the first slot of each place
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> counts_;  ///< of the slots
  std::vector<std::uint32_t> least_;   ///< its first ones: slots that had the least count
  std::size_t least_size_ = 0;
  std::uint64_t least_count_ = 0;  ///< when they were collected
  std::size_t capacity_;
  std::uint64_t total_ = 0;
};

}  // namespace weir
