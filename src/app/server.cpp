#include "app/server.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <random>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <string>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "admin/admin_server.hpp"
#include "app/certificates.hpp"
#include "app/descriptors.hpp"
#include "app/worker.hpp"
#include "base/line_writer.hpp"
#include "store/memory_store.hpp"

namespace weir::app {
namespace {

namespace asio = boost::asio;

constexpr std::array handled_signals{SIGTERM, SIGINT, SIGHUP, SIGUSR1};

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

/// As many descriptors as the system lets us have.
rlim_t raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

/// Configuration with what only the running process knows: connections bounded by descriptors.
config::Config completed(const config::Config& configured, rlim_t descriptors) {
  config::Config config = configured;
  const std::size_t possible = plan_descriptors(config, descriptors).downstream;
  auto& most = config.downstream.max_connections;
  if (most > possible) {
    spdlog::warn(
        "downstream.max_connections is {}, but with {} open files it can be {} at most; raise "
        "`ulimit -n`",
        config.written.shown("downstream.max_connections", std::to_string(most)), descriptors,
        possible);
  }
  if (most == 0 || most > possible) most = possible;
  return config;
}

std::string url_of(const Endpoint& address, bool secure = false) {
  const char* const scheme = secure ? "https://" : "http://";
  return (address.is_unix() ? "" : scheme) + address.to_string();
}

/// The signals we live by interrupt nobody, as long as the process lives: they are read from a
/// descriptor (signalfd(2)), and a late one can not kill a process that is ending in order.
/// Inherited by every thread started from here.
sigset_t block_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : handled_signals) {
    std::signal(signal, SIG_DFL);  // whoever started us may have had it ignored
    ::sigaddset(&signals, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

class Server {
 public:
  explicit Server(const config::Config& config)
      : descriptors_(raise_descriptor_limit()),
        config_(completed(config, descriptors_)),
        store_({.max_keys = config_.memory.max_keys, .seed = random_seed()}),
        store_health_(config_.workers),
        server_watch_(config_) {}

  Result<void> start();
  void run();

 private:
  void note_listening();
  Result<void> open_log();
  Result<void> open_workers();
  Result<void> start_admin();
  void watch_signals();
  void on_signal(int signal);
  void renew_certificates();
  void drain();
  void worker_drained();

  rlim_t descriptors_;
  config::Config config_;
  MonotonicClock clock_;
  store::MemoryStore store_;
  admin::StoreHealth store_health_;
  ServerWatch server_watch_;
  std::atomic<std::size_t> open_connections_{0};
  std::atomic<std::size_t> open_refusals_{0};
  proxy::DescriptorBudget budget_{plan_descriptors(config_, descriptors_).connections,
                                  open_connections_};
  std::atomic<admin::Readiness> readiness_{admin::Readiness::starting};
  std::atomic<std::size_t> listening_workers_ = 0;
  std::unique_ptr<LineWriter> log_writer_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<admin::AdminServer> admin_;
  asio::io_context io_{1};
  asio::posix::stream_descriptor signals_{io_};
  asio::steady_timer shutdown_timer_{io_};
  std::size_t draining_workers_ = 0;
  bool draining_ = false;
};

Result<void> Server::start() {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t signals = block_signals();
  if (const auto fewest = fewest_descriptors(config_); descriptors_ < fewest) {
    return Problem{"the process may have " + std::to_string(descriptors_) +
                   " open files, and needs at least " + std::to_string(fewest) +
                   ": raise the limit with `ulimit -n` or LimitNOFILE="};
  }
  if (auto opened = open_log(); !opened) return opened;
  if (auto opened = open_workers(); !opened) return opened;
  if (auto started = start_admin(); !started) return started;
  const int descriptor = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor < 0)
    return Problem{"signals can not be read: " + std::system_category().message(errno)};
  signals_.assign(descriptor);
  watch_signals();
  for (auto& worker : workers_)
    worker->start([this] { note_listening(); });
  return {};
}

/// Ready is who takes connections with every worker. Called by their threads.
void Server::note_listening() {
  if (++listening_workers_ < workers_.size()) return;
  auto expected = admin::Readiness::starting;  // it may be draining already
  readiness_.compare_exchange_strong(expected, admin::Readiness::ready);
}

Result<void> Server::open_log() {
  auto opened =
      LineWriter::open(config_.access_log.path == "off" ? "/dev/null" : config_.access_log.path);
  if (!opened) return opened.error();
  log_writer_ = std::move(*opened);
  return {};
}

Result<void> Server::open_workers() {
  auto certificates = load_certificates(config_);
  if (!certificates) return certificates.error();
  std::vector<std::vector<proxy::ListeningSocket>> sockets(config_.workers);
  for (auto& listen : config_.listen) {
    auto opened = proxy::ListeningSocket::open(listen.address, config_.workers);
    if (!opened) return opened.error();
    for (std::size_t i = 0; i < config_.workers; ++i)
      sockets[i].push_back(std::move((*opened)[i]));
    spdlog::info("listening on {}", url_of(listen.address, !listen.certificates.empty()));
  }
  const WorkerShares shares{.config = config_,
                            .store = store_,
                            .log_writer = *log_writer_,
                            .clock = clock_,
                            .open_connections = open_connections_,
                            .open_refusals = open_refusals_,
                            .descriptors = budget_,
                            .store_health = store_health_,
                            .certificates = *certificates,
                            .server_watch = server_watch_};
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    workers_.push_back(std::make_unique<Worker>(shares, i, std::move(sockets[i]), random_seed()));
  }
  return {};
}

Result<void> Server::start_admin() {
  if (!config_.admin) return {};
  admin::Instruments instruments{.config = config_,
                                 .options = &*config_.admin,
                                 .store = store_,
                                 .readiness = readiness_,
                                 .traffic = {},
                                 .policies = {},
                                 .access_log = log_writer_.get()};
  for (const auto& worker : workers_) {
    instruments.traffic.push_back(&worker->traffic());
    instruments.policies.push_back(worker->policies());
    if (config_.store_type == config::StoreType::redis)
      instruments.shared_store.push_back(worker->shared_store());
  }
  if (config_.store_type == config::StoreType::redis) instruments.store_health = &store_health_;
  admin_ = std::make_unique<admin::AdminServer>(std::move(instruments));
  auto started = admin_->start(config_.admin->address);
  if (started) spdlog::info("admin on {}", url_of(admin_->address()));
  return started;
}

void Server::watch_signals() {
  signals_.async_wait(signals_.wait_read, [this](const boost::system::error_code& ec) {
    if (ec) return;
    signalfd_siginfo arrived{};
    while (::read(signals_.native_handle(), &arrived, sizeof arrived) == sizeof arrived)
      on_signal(static_cast<int>(arrived.ssi_signo));
    watch_signals();
  });
}

void Server::on_signal(int signal) {
  if (signal == SIGHUP) return renew_certificates();
  if (signal == SIGUSR1) {
    if (auto reopened = log_writer_->reopen(); !reopened)
      spdlog::error("SIGUSR1: {}", reopened.error().message);
    return;
  }
  if (!draining_) return drain();
  spdlog::warn("second signal: closing {} connections at once", open_connections_.load());
  for (auto& worker : workers_)
    worker->abort();
}

void Server::renew_certificates() {
  const auto certificates = load_certificates(config_);
  if (!certificates) {
    return spdlog::error("SIGHUP: the certificates stay as they are: {}",
                         certificates.error().message);
  }
  for (auto& worker : workers_)
    worker->renew(*certificates);
  for (const auto& warning : certificates->warnings())
    spdlog::warn("SIGHUP: {}", warning);
  if (certificates->any())
    return spdlog::info("SIGHUP: certificates were read again; the configuration stays as it is");
  spdlog::warn("SIGHUP: reloading the configuration is not supported yet");
}

void Server::drain() {
  draining_ = true;
  readiness_ = admin::Readiness::draining;
  const std::string longest = std::to_string(ceil_seconds(config_.shutdown_timeout)) + " s";
  spdlog::info("draining {} connections, at most {}", open_connections_.load(),
               config_.written.shown("shutdown_timeout", longest));
  draining_workers_ = workers_.size();
  for (auto& worker : workers_)
    worker->drain([this] { asio::post(io_, [this] { worker_drained(); }); });
  shutdown_timer_.expires_after(config_.shutdown_timeout);
  shutdown_timer_.async_wait([this](const boost::system::error_code& ec) {
    if (ec) return;
    spdlog::warn("shutdown_timeout is over: closing {} connections", open_connections_.load());
    for (auto& worker : workers_)
      worker->abort();
  });
}

void Server::worker_drained() {
  if (--draining_workers_ > 0) return;
  shutdown_timer_.cancel();
  signals_.cancel();
}

void Server::run() {
  io_.run();
  for (auto& worker : workers_)
    worker->join();
  for (const auto& listen : config_.listen) {
    if (listen.address.is_unix()) ::unlink(listen.address.unix_path.c_str());
  }
  spdlog::info("stopped");
}

}  // namespace

int serve(const std::shared_ptr<const config::Config>& config) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("weir"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
  Server server(*config);
  if (auto started = server.start(); !started) {
    spdlog::error("{}", started.error().message);
    return 1;
  }
  server.run();
  return 0;
}

}  // namespace weir::app
