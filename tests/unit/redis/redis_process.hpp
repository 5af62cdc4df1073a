// Runs a real redis-server for a test, without persistence, in a temporary directory. It listens on
// a unix socket and on a free TCP port of the loopback. The destructor ends the process.
//
// stop() and start() are a crash and a restart at the same addresses. After pause() the sockets
// stay open, but nothing is answered.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace weir::redis::test {

class RedisProcess {
 public:
  /// `arguments` as on the command line: {"--requirepass", "secret"}. Starts it and waits until it
  /// listens.
  explicit RedisProcess(std::vector<std::string> arguments = {})
      : arguments_(std::move(arguments)), directory_(temporary_directory()), port_(free_port()) {
    start();
  }
  ~RedisProcess() {
    stop();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  std::string unix_path() const { return directory_ + "/redis.sock"; }
  std::uint16_t port() const { return port_; }
  pid_t pid() const { return pid_; }

  /// A free port of the loopback below the usual range of the ports of outgoing connections, so
  /// none of them occupies it before the server listens.
  static std::uint16_t free_port() {
    Random random(random_seed());
    for (;;) {
      const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(static_cast<std::uint16_t>(10'000 + random.next() % 20'000));
      const bool is_free = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
      close(fd);
      if (is_free) return ntohs(address.sin_port);
    }
  }

  void start() {
    if (pid_ > 0) return;
    int log[2];
    if (pipe2(log, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    pid_ = spawn(log[1]);
    close(log[1]);
    std::string written;
    const bool listens = read_until(log[0], "eady to accept connections", written);
    close(log[0]);  // redis-server ignores SIGPIPE
    if (listens) return;
    stop();
    throw std::runtime_error("redis-server did not start; is it installed? It logged:\n" + written);
  }
  void stop() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void pause() const { kill(pid_, SIGSTOP); }
  void resume() const { kill(pid_, SIGCONT); }

 private:
  static std::string temporary_directory() {
    std::string path = "/tmp/weir-redis-XXXXXX";
    if (!mkdtemp(path.data())) throw std::runtime_error("mkdtemp failed");
    return path;
  }
  std::vector<std::string> command_line() const {
    std::vector<std::string> words{"redis-server",
                                   "--save",
                                   "",
                                   "--appendonly",
                                   "no",
                                   "--dir",
                                   directory_,
                                   "--unixsocket",
                                   unix_path(),
                                   "--port",
                                   std::to_string(port_),
                                   "--bind",
                                   "127.0.0.1",
                                   "--loglevel",
                                   "notice"};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    return words;
  }
  /// The child only execs: everything it needs is allocated before.
  pid_t spawn(int log) const {
    auto words = command_line();
    std::vector<char*> argv;
    for (auto& word : words)
      argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child != 0) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  /// Appends to `written` until it contains `text`; false if the writer ends first.
  static bool read_until(int log, const std::string& text, std::string& written) {
    char piece[512];
    while (written.find(text) == written.npos) {
      const ssize_t size = read(log, piece, sizeof piece);
      if (size == 0 || (size < 0 && errno != EINTR)) return false;
      if (size > 0) written.append(piece, static_cast<std::size_t>(size));
    }
    return true;
  }

  std::vector<std::string> arguments_;
  std::string directory_;
  std::uint16_t port_;
  pid_t pid_ = 0;
};

}  // namespace weir::redis::test
