#include "app/process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>

#include "admin/admin_server.hpp"
#include "app/webhook_queue.hpp"
#include "proxy/listener.hpp"

namespace weir::app {
namespace {

/// Standard streams, the loops of the main and the admin thread, the access log and its successor,
/// a certificate that is being read, what a scrape reads of /proc.
constexpr std::size_t for_the_process = 32;
/// Its loop, a name that is being looked up, a connection to Redis and its successor, a connection
/// that has just been accepted.
constexpr std::size_t for_a_worker = 10;
/// Two connections, and as many of a successor.
constexpr std::size_t for_sentinels = 4;
/// Masters, and servers that are being replaced.
constexpr std::size_t for_cluster = 32;
/// Fewer are not worth a proxy.
constexpr std::size_t fewest_connections = 64;
constexpr std::size_t fewest = 256;

std::size_t set_aside(const config::Config& config) {
  std::size_t of_a_worker = for_a_worker + config.listen.size();
  if (config.redis.connection.topology == options::RedisTopology::sentinel)
    of_a_worker += for_sentinels;
  if (config.redis.connection.topology == options::RedisTopology::cluster)
    of_a_worker += std::max(for_cluster, 2 * config.redis.connection.servers.size());
  for (const auto& upstream : config.upstreams)
    of_a_worker += upstream.health_check ? upstream.servers.size() : 0;
  // A connection, and what the lookup of a name opens.
  constexpr std::size_t for_a_request = 3;
  const std::size_t for_keys = for_a_request * config.key_urls.size();
  const std::size_t for_webhook = config.webhook ? for_a_request * WebhookQueue::most_in_flight : 0;
  const std::size_t for_exports = config.otlp ? 2 * for_a_request : 0;
  const std::size_t for_admin = config.admin ? admin::most_connections + 2 : 0;
  return for_the_process + for_admin + for_keys + for_webhook + for_exports +
         proxy::refusals_at_once + config.workers * of_a_worker;
}

}  // namespace

std::string instance_name() {
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  return std::string(host) + ':' + std::to_string(::getpid());
}

std::size_t fewest_descriptors(const config::Config& config) {
  return std::max(fewest, set_aside(config) + fewest_connections);
}

Result<void> check_descriptors(const config::Config& config, std::size_t limit) {
  const std::size_t needed = fewest_descriptors(config);
  if (limit >= needed) return {};
  return Problem{"the process may have " + std::to_string(limit) +
                 " open files, and needs at least " + std::to_string(needed) +
                 ": raise the limit with `ulimit -n` or LimitNOFILE="};
}

DescriptorPlan plan_descriptors(const config::Config& config, std::size_t limit) {
  const std::size_t ours = set_aside(config);
  const std::size_t connections = std::max(limit, fewest_descriptors(config)) - ours;
  return {.set_aside = ours, .connections = connections, .downstream = connections / 4 * 3};
}

rlim_t raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

void occupy_standard_descriptors() {
  // open(2) returns the lowest number that is free.
  int opened = ::open("/dev/null", O_RDWR);
  while (opened >= 0 && opened <= STDERR_FILENO)
    opened = ::open("/dev/null", O_RDWR);
  if (opened >= 0) ::close(opened);
}

void hold_reload_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGHUP);
  ::sigaddset(&signals, SIGUSR1);
  ::sigaddset(&signals, SIGUSR2);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Result<loop::Descriptor> open_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2}) {
    std::signal(signal, SIG_DFL);  // the parent may have had it ignored
    ::sigaddset(&signals, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  loop::Descriptor arriving(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!arriving.is_open())
    return Problem{"cannot read signals: " + std::system_category().message(errno)};
  return arriving;
}

}  // namespace weir::app
