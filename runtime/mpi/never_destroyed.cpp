/// Nothing of this library is destroyed when the process ends: exit handlers and destructors of the program may still
/// make calls (docs/decisions/0065-nothing-is-destroyed-at-exit.md). The compiler registers destructors of static
/// objects here, for this library only (nothing is exported).
extern "C" __attribute__((visibility("hidden"))) int hocket_never_destroyed(void (*)(void*), void*,
                                                                            void*) __asm__("__cxa_atexit");
int hocket_never_destroyed(void (*)(void*), void*, void*) { return 0; }
