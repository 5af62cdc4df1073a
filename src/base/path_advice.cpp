#include "base/path_advice.hpp"

#include <cerrno>
#include <filesystem>

namespace weir {

std::string path_advice(const std::string& path, int error, uid_t user) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  switch (error) {
    case ENOENT:
      return "; create the folder \"" + folder + "\" first";
    case ENOTDIR:
      return "; \"" + folder + "\" is not a folder";
    case EISDIR:
      return "; it is a folder: write the name of a file in it";
    case EACCES:
    case EPERM:
      return "; give the user with the id " + std::to_string(user) + " permission to write there";
    case EROFS:
      return "; the file system is read-only: mount a folder that can be written to";
    case ENXIO:
      return "; a pipe needs a process that reads it first";
    default:
      return {};
  }
}

std::string read_advice(int error, uid_t user) {
  if (error == ENOENT) return "; check the path, and in a container that the file is mounted";
  if (error == EACCES)
    return "; make the file and its folders readable for the user with the id " +
           std::to_string(user);
  return {};
}

}  // namespace weir
