#include "runtime/plan/written_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace hocket::runtime {

std::FILE* open_emptied(const std::string& path) {
  constexpr mode_t for_others_to_read = 0644;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, for_others_to_read);
  return file < 0 ? nullptr : fdopen(file, "w");
}

bool replace_file(const std::string& path, std::string_view content) {
  const std::string fresh = path + "." + std::to_string(getpid()) + ".new";
  std::FILE* const file = open_emptied(fresh);
  if (file == nullptr) return false;
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  if (std::fclose(file) == 0 && written && std::rename(fresh.c_str(), path.c_str()) == 0) return true;
  std::remove(fresh.c_str());
  return false;
}

void make_folders(const std::string& path) {
  constexpr mode_t for_others_to_read = 0755;
  const std::filesystem::path whole(path);
  std::filesystem::path folder;
  for (const auto& part : whole) {
    folder /= part;
    (void)mkdir(folder.c_str(), for_others_to_read);
  }
}

}  // namespace hocket::runtime
