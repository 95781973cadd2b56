#pragma once
#include <pthread.h>

#include <memory>
#include <new>

namespace hocket {

/// An object of the calling thread, made on first use and freed when the thread ends. The main thread keeps its own for
/// exit handlers, whereas it destroys thread_local objects before these.
template <class T>
[[nodiscard]] T& of_thread() {
  static const pthread_key_t key = [] {
    pthread_key_t fresh{};
    if (pthread_key_create(&fresh, [](void* own) { delete static_cast<T*>(own); }) != 0) throw std::bad_alloc();
    return fresh;
  }();
  if (void* const own = pthread_getspecific(key)) return *static_cast<T*>(own);
  auto fresh = std::make_unique<T>();
  if (pthread_setspecific(key, fresh.get()) != 0) throw std::bad_alloc();
  return *fresh.release();
}

}  // namespace hocket
