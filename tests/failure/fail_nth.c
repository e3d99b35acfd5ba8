/* fail_nth.c: stands between the library and the system (ld --wrap), and says no once. */
/* SPDX-License-Identifier: MIT */
#include "tests/failure/fail_nth.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

void *__real_malloc(size_t len);
void *__real_calloc(size_t n, size_t len);
void *__real_realloc(void *old, size_t len);
void __real_free(void *memory);
void *__real_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __real_memfd_create(const char *name, unsigned int flags);
int __real_fallocate(int fd, int mode, off_t offset, off_t len);
int __real_pipe2(int *fds, int flags);
int __real_open(const char *path, int flags, ...);
int __real_fcntl(int fd, int command, ...);
ssize_t __real_getrandom(void *buf, size_t len, unsigned int flags);
ssize_t __real_pread(int fd, void *buf, size_t len, off_t offset);
long __real_syscall(long number, ...);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);

void *__wrap_malloc(size_t len);
void *__wrap_calloc(size_t n, size_t len);
void *__wrap_realloc(void *old, size_t len);
void __wrap_free(void *memory);
void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int __wrap_memfd_create(const char *name, unsigned int flags);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t len);
int __wrap_pipe2(int *fds, int flags);
int __wrap_open(const char *path, int flags, ...);
int __wrap_fcntl(int fd, int command, ...);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags);
ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t offset);
long __wrap_syscall(long number, ...);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);

static struct {
	bool counting, paused, persistent;
	unsigned int n, calls;
	long pieces;
	const char *name;
} state = {.name = ""};

void fail_nth(unsigned int n, bool persistent)
{
	state.n = n;
	state.calls = 0;
	state.persistent = persistent;
	state.paused = false;
	state.name = "";
	state.counting = true;
}

unsigned int fail_nth_end(void)
{
	state.counting = false;
	return state.calls;
}

void fail_nth_pause(bool pause)
{
	state.paused = pause;
}

const char *fail_nth_name(void)
{
	return state.name;
}

long fail_nth_pieces(void)
{
	return __atomic_load_n(&state.pieces, __ATOMIC_RELAXED);
}

static void *count_piece(void *memory)
{
	if (memory)
		(void)__atomic_add_fetch(&state.pieces, 1, __ATOMIC_RELAXED);
	return memory;
}

/* Is it this call's turn? Then errno is e. */
static bool denied(const char *name, int e)
{
	if (!state.counting || state.paused)
		return false;
	state.calls++;
	if (state.n == 0 || state.calls < state.n || (state.calls > state.n && !state.persistent))
		return false;
	if (state.calls == state.n)
		state.name = name;
	errno = e;
	return true;
}

void *__wrap_malloc(size_t len)
{
	return denied("malloc", ENOMEM) ? NULL : count_piece(__real_malloc(len));
}

void *__wrap_calloc(size_t n, size_t len)
{
	return denied("calloc", ENOMEM) ? NULL : count_piece(__real_calloc(n, len));
}

void *__wrap_realloc(void *old, size_t len)
{
	if (denied("realloc", ENOMEM))
		return NULL;
	return old ? __real_realloc(old, len) : count_piece(__real_realloc(old, len));
}

void __wrap_free(void *memory)
{
	if (memory)
		(void)__atomic_sub_fetch(&state.pieces, 1, __ATOMIC_RELAXED);
	__real_free(memory);
}

void *__wrap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
	return denied("mmap", ENOMEM) ? MAP_FAILED : __real_mmap(at, len, prot, flags, fd, offset);
}

int __wrap_memfd_create(const char *name, unsigned int flags)
{
	return denied("memfd_create", EMFILE) ? -1 : __real_memfd_create(name, flags);
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t len)
{
	return denied("fallocate", ENOSPC) ? -1 : __real_fallocate(fd, mode, offset, len);
}

int __wrap_pipe2(int *fds, int flags)
{
	return denied("pipe2", EMFILE) ? -1 : __real_pipe2(fds, flags);
}

int __wrap_open(const char *path, int flags, ...)
{
	int mode;
	va_list args;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	return denied("open", EMFILE) ? -1 : __real_open(path, flags, mode);
}

int __wrap_fcntl(int fd, int command, ...)
{
	long arg;
	va_list args;

	va_start(args, command);
	arg = va_arg(args, long);
	va_end(args);
	return denied("fcntl", ENOMEM) ? -1 : __real_fcntl(fd, command, arg);
}

ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags)
{
	return denied("getrandom", ENOSYS) ? -1 : __real_getrandom(buf, len, flags);
}

ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t offset)
{
	return denied("pread", EIO) ? -1 : __real_pread(fd, buf, len, offset);
}

/* As the library uses it: pidfd_open, and where this thread runs. */
long __wrap_syscall(long number, ...)
{
	long a, b, c;
	va_list args;

	va_start(args, number);
	a = va_arg(args, long);
	b = va_arg(args, long);
	c = va_arg(args, long);
	va_end(args);
	return denied("syscall", EMFILE) ? -1 : __real_syscall(number, a, b, c);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg)
{
	return denied("pthread_create", EAGAIN) ? EAGAIN
						: __real_pthread_create(thread, attr, run, arg);
}
