// Checks the properties that hold for every session that has ended. Reads only the bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "network.hpp"
#include "reference.hpp"

namespace weir::fuzz {

/// The field in which the target marks its answers with their request.
inline constexpr std::string_view mark = "X-Answers";

struct Case {
  const End& client;
  std::span<const std::unique_ptr<End>> upstreams;
  std::size_t before_http;  ///< bytes of the client before its first request: a PROXY header
  std::size_t attempts;     ///< that one request may make
  bool was_aborted;         ///< the session was ended from outside
  bool was_turned_away;     ///< answered 503 whatever it sends
  bool has_false_marks;     ///< marks may come from other sources than the target
};

class Judge {
 public:
  explicit Judge(const Case& what);
  /// Aborts with a message on standard error if a property does not hold.
  void judge();

 private:
  struct Carried {
    Message message;
    std::string key;  ///< method and target, as an upstream sees them
  };
  void read_requests();
  void judge_answers();
  void judge_answer(const Message& answer, std::size_t index);
  void judge_end(const Message& last) const;
  void judge_upstream(const End& upstream);
  void judge_request(const Message& request);
  void judge_fields(const Message& request, const std::string& key) const;
  void judge_counts() const;
  bool is_tunnel(const End& upstream, const Message& request, std::string_view rest) const;

  const Case& case_;
  std::string_view sent_;           ///< by the client, from its first request on
  std::vector<Carried> requests_;   ///< heads that are whole; the last body may not be
  std::vector<std::size_t> ends_;   ///< of each, in sent_
  std::vector<Carried> forwarded_;  ///< to any upstream
  bool ends_with_head_ = false;     ///< the bytes that are not a request begin with that method
  std::size_t answers_ = 0;         ///< final ones
  std::size_t tunnel_ = SIZE_MAX;   ///< the request that was answered 101
};

[[noreturn]] void fail(std::string_view why);
inline void require(bool holds, std::string_view why) {
  if (!holds) fail(why);
}

}  // namespace weir::fuzz
