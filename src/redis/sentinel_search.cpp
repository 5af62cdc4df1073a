#include "redis/sentinel_search.hpp"

#include <algorithm>
#include <hiredis/hiredis.h>
#include <numeric>
#include <utility>

#include "base/text.hpp"
#include "redis/error_reply.hpp"
#include "redis/server_address.hpp"

namespace weir::redis {
namespace {

constexpr auto replaced_master_is_skipped_for = std::chrono::seconds(30);
/// Sentinels publish the master that they use every 2 s (SENTINEL_PUBLISH_PERIOD of Redis).
constexpr auto sentinels_are_updated_within = std::chrono::seconds(5);

std::optional<options::RedisServer> server_of(std::string_view host, std::string_view port) {
  const auto number = parse_number<std::uint16_t>(port);
  if (host.empty() || number.value_or(0) == 0) return {};
  return options::RedisServer{.host = std::string(host), .port = *number};
}

std::string not_a_sentinel(const options::RedisServer& server) {
  return "the server " + server_text(server) + " is not a sentinel; check store.redis.servers";
}

}  // namespace

MasterReply master_in(const redisReply& reply) {
  using Kind = MasterReply::Kind;
  if (reply.type == REDIS_REPLY_NIL) return {.kind = Kind::unknown};
  if (reply.type == REDIS_REPLY_ERROR) return {.kind = Kind::error, .error = text_of(reply)};
  if (reply.type != REDIS_REPLY_ARRAY) return {};
  if (reply.elements == 0) return {.kind = Kind::unknown};  // a null array of hiredis 0.14
  if (reply.elements != 2) return {};
  auto master = server_of(text_of(*reply.element[0]), text_of(*reply.element[1]));
  if (!master) return {};
  return {.kind = Kind::address, .master = *std::move(master)};
}

std::optional<options::RedisServer> switched_master(std::string_view message,
                                                    std::string_view name) {
  std::vector<std::string_view> words;
  while (!message.empty())
    words.push_back(take_until(message, ' '));
  if (words.size() != 5 || words[0] != name) return {};
  return server_of(words[3], words[4]);
}

SentinelSearch::SentinelSearch(const options::Redis& options)
    : options_(options), order_(options.servers.size()) {
  std::iota(order_.begin(), order_.end(), 0);
}

void SentinelSearch::begin(Time deadline) {
  if (std::exchange(is_unconfirmed_, false))
    std::rotate(order_.begin(), order_.begin() + 1, order_.end());
  next_ = 0;
  returning_replaced_ = 0;
  deadline_ = deadline;
  is_unknown_ = false;
  error_.clear();
  unreachable_.clear();
}

std::optional<SentinelSearch::Turn> SentinelSearch::next(Time now) {
  if (next_ == order_.size() || now >= deadline_) return {};
  const auto shares = static_cast<std::int64_t>(order_.size() - next_ + 1);
  return Turn{.index = order_[next_++], .until = now + (deadline_ - now) / shares};
}

void SentinelSearch::on_unreachable(std::string_view why) {
  if (!unreachable_.empty()) unreachable_ += ", ";
  unreachable_.append(server_text(last())).append(": ").append(printable(why));
}

void SentinelSearch::on_replaced(options::RedisServer master, Time now) {
  replaced_ = std::move(master);
  replaced_at_ = now;
}

bool SentinelSearch::is_replaced(const options::RedisServer& server, Time now) const {
  return replaced_ == server && now < replaced_at_ + replaced_master_is_skipped_for;
}

bool SentinelSearch::on_reply(const MasterReply& reply, Time now) {
  using Kind = MasterReply::Kind;
  switch (reply.kind) {
    case Kind::address: {
      if (is_replaced(reply.master, now)) {
        const bool is_majority = ++returning_replaced_ * 2 > order_.size();
        if (!is_majority || now < replaced_at_ + sentinels_are_updated_within) {
          on_unreachable("still returns the former master");
          break;
        }
        replaced_.reset();
      }
      const auto found = order_.begin() + static_cast<std::ptrdiff_t>(next_ - 1);
      std::rotate(order_.begin(), found, found + 1);
      is_unconfirmed_ = true;
      return true;
    }
    case Kind::unknown:
      is_unknown_ = true;
      break;
    case Kind::error:
      if (reply.error.starts_with("ERR unknown command")) {
        error_ = not_a_sentinel(last());
        break;
      }
      error_ = "the sentinel " + server_text(last()) + " returned an error: " +
               printable(unquoted(reply.error), options_.sentinel_password.reveal());
      if (error_of(reply.error) == store::Error::refused)
        error_ += "; check store.redis.sentinel_password";
      break;
    case Kind::other:
      error_ = not_a_sentinel(last());
      break;
  }
  return false;
}

std::string SentinelSearch::failure() const {
  if (is_unknown_)
    return "no sentinel has a master of this name; check store.redis.sentinel_master";
  if (!error_.empty()) return error_;
  const std::string_view problem =
      returning_replaced_ > 0 ? "no sentinel returns a new master" : "no sentinel is reachable";
  return std::string(problem) + " (" + unreachable_ + ")";
}

}  // namespace weir::redis
