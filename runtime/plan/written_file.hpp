#pragma once
/// Files that ranks write: whole, and for nobody but their owner to change, whatever the umask.
#include <cstdio>
#include <string>
#include <string_view>

namespace hocket::runtime {

/// An empty file to write to; nullptr, and errno, if there can be none. What was in it is lost.
[[nodiscard]] std::FILE* open_emptied(const std::string& path);

/// Replaces the file as a whole; false, and errno, if that cannot be done.
[[nodiscard]] bool replace_file(const std::string& path, std::string_view content);

/// The folder, with those above it that are missing. What goes wrong is seen when something is written there.
void make_folders(const std::string& path);

}  // namespace hocket::runtime
