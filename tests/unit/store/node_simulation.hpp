// Workers that ask one Redis server, simulated: each has a NodeControl, and the server serves one
// question after the other, with the durations of a list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "source_directory.hpp"
#include "store/node_control.hpp"

namespace weir::store::test {

/// Durations of calls of a real server, from tests/data/redis_latency.
inline std::vector<Duration> recorded_durations(const std::string& name) {
  std::ifstream in(std::string(WEIR_SOURCE_DIR "/tests/data/redis_latency/") + name + ".txt");
  std::string comment;
  std::getline(in, comment);
  std::vector<Duration> durations;
  for (int us = 0; in >> us;)
    durations.emplace_back(std::chrono::microseconds(us));
  return durations;
}

class NodeSimulation {
 public:
  struct Options {
    int workers = 4;
    Duration timeout = std::chrono::milliseconds(25);
    Duration retry_after = std::chrono::seconds(60);
    std::vector<Duration> service;   ///< of one question each, again and again
    double requests_per_second = 0;  ///< at all workers, at random instants
    Duration network{0};             ///< of a round trip
    Duration pass{0};    ///< of a worker: its questions of a pass are one call. 0: each is a call
    bool gather = true;  ///< while the server is crowded, until the next replies
    Duration call{0};    ///< the server's work for a call, in addition to that for its questions
    /// The server stands still during these times: from, and how long.
    std::vector<std::pair<Duration, Duration>> stalls{};
    Duration length = std::chrono::seconds(5);
  };
  struct Sample {
    int asked = 0;     ///< decided by the server
    int alone = 0;     ///< not sent
    int too_late = 0;  ///< sent, and not answered in time
    int requests() const { return asked + alone + too_late; }
    int fallbacks() const { return alone + too_late; }
  };

  explicit NodeSimulation(Options options)
      : options_(std::move(options)),
        controls_(static_cast<std::size_t>(options_.workers),
                  NodeControl({options_.timeout, 5, options_.retry_after})),
        in_flight_(controls_.size()),
        is_crowded_(controls_.size()),
        waiting_(controls_.size()) {}

  void run() {
    at(Instant{}, [this] { arrive(); });
    while (!events_.empty() && events_.begin()->first < Instant{} + options_.length) {
      const auto first = events_.begin();
      now_ = first->first;
      const auto event = std::move(first->second);
      events_.erase(first);
      event();
    }
  }

  /// The results of the requests that arrived in each span of 100 ms.
  std::vector<Sample> samples() const {
    std::vector<Sample> all;
    for (const auto& [number, sample] : samples_)
      all.push_back(sample);
    return all;
  }
  Sample total(std::size_t first_sample = 0) const {
    Sample sum;
    for (const auto& [number, sample] : samples_) {
      if (number < static_cast<std::int64_t>(first_sample)) continue;
      sum.asked += sample.asked;
      sum.alone += sample.alone;
      sum.too_late += sample.too_late;
    }
    return sum;
  }
  /// The arrivals of the first and the last request that the server did not decide.
  std::pair<Instant, Instant> fallback_span() const { return {first_fallback_, last_fallback_}; }
  /// The part of the time during which the server worked.
  double use() const {
    return std::chrono::duration<double>(busy_) / std::chrono::duration<double>(options_.length);
  }
  int most_in_flight() const { return most_in_flight_; }

 private:
  using Event = std::function<void()>;
  void at(Instant when, Event event) { events_.emplace(when, std::move(event)); }
  Sample& sample(Instant arrival) { return samples_[(arrival - Instant{}) / sample_length]; }

  void note_fallback(Instant arrival) {
    if (first_fallback_ == Instant{}) first_fallback_ = arrival;
    last_fallback_ = std::max(last_fallback_, arrival);
  }

  void arrive() {
    const auto worker = static_cast<std::size_t>(random_() % controls_.size());
    const auto permission = controls_[worker].permission(now_, in_flight_[worker]);
    if (permission == NodeControl::Permission::granted) {
      send(worker);
    } else {
      ++sample(now_).alone;
      note_fallback(now_);
    }
    std::exponential_distribution<double> gap(options_.requests_per_second);
    const auto next = std::chrono::duration<double>(gap(random_));
    at(now_ + std::chrono::duration_cast<Duration>(next), [this] { arrive(); });
  }

  void send(std::size_t worker) {
    const NodeControl::Sent sent{.at = now_, .in_flight = ++in_flight_[worker]};
    most_in_flight_ = std::max(most_in_flight_, static_cast<int>(sent.in_flight));
    waiting_[worker].push_back(sent);
    if (options_.pass == Duration{0}) return send_calls(worker);
    is_crowded_[worker] = options_.gather && controls_[worker].is_crowded(sent.in_flight);
    const std::size_t waiting = waiting_[worker].size();
    if (waiting == 1 || waiting == most_in_call)
      at(now_ + options_.pass, [this, worker] { end_pass(worker); });
  }

  void end_pass(std::size_t worker) {
    const std::size_t waiting = waiting_[worker].size();
    const bool is_reply_to_come = in_flight_[worker] > waiting;
    if (is_crowded_[worker] && is_reply_to_come && waiting < most_in_call) return;
    send_calls(worker);
  }

  /// Sends the questions that wait, up to most_in_call in a call; the answers of a call arrive
  /// together.
  void send_calls(std::size_t worker) {
    const auto questions = std::exchange(waiting_[worker], {});
    for (std::span rest(questions); !rest.empty();) {
      const auto call = rest.first(std::min(rest.size(), most_in_call));
      rest = rest.subspan(call.size());
      send_call(worker, call);
    }
  }

  void send_call(std::size_t worker, std::span<const NodeControl::Sent> questions) {
    Duration work = options_.call;
    for (std::size_t i = 0; i < questions.size(); ++i)
      work += options_.service[served_++ % options_.service.size()];
    const Instant done = serve(now_ + options_.network / 2, work) + options_.network / 2;
    for (const NodeControl::Sent& sent : questions) {
      const bool in_time = done - sent.at <= options_.timeout;
      if (!in_time) {
        at(sent.at + options_.timeout, [this, worker, sent] {
          ++sample(sent.at).too_late;
          note_fallback(sent.at);
          controls_[worker].on_timeout(sent, now_, in_flight_[worker]);
        });
      }
      at(done, [this, worker, sent, in_time] {
        --in_flight_[worker];
        if (is_crowded_[worker] && !waiting_[worker].empty())
          at(now_ + options_.pass, [this, worker] { send_calls(worker); });
        controls_[worker].on_replies(now_);
        if (!in_time) return;
        ++sample(sent.at).asked;
        controls_[worker].on_decision(sent, now_);
      });
    }
  }

  /// Returns when the server has done this work, which reaches it then. A stall interrupts it.
  Instant serve(Instant arrival, Duration work) {
    busy_ += work;
    free_at_ = std::max(free_at_, arrival);
    for (const auto& [from, length] : options_.stalls) {
      const Instant begin = Instant{} + from;
      if (free_at_ >= begin + length) continue;
      const Duration before = std::max(begin - free_at_, Duration{0});
      if (work <= before) break;
      work -= before;
      free_at_ = begin + length;
    }
    return free_at_ += work;
  }

  static constexpr std::size_t most_in_call = 32;
  static constexpr Duration sample_length = std::chrono::milliseconds(100);

  Options options_;
  std::vector<NodeControl> controls_;
  std::vector<std::size_t> in_flight_;
  std::vector<bool> is_crowded_;
  std::vector<std::vector<NodeControl::Sent>> waiting_;  ///< for the end of a pass
  std::multimap<Instant, Event> events_;
  Instant now_{};
  Instant free_at_{};
  Duration busy_{0};
  std::size_t served_ = 0;
  int most_in_flight_ = 0;
  std::map<std::int64_t, Sample> samples_;
  Instant first_fallback_{};
  Instant last_fallback_{};
  std::mt19937_64 random_{1};
};

}  // namespace weir::store::test
