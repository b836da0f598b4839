//go:build mpi && cgo

// Messages longer than their receive. With OMPI_MCA_btl_vader_single_copy_mechanism=cma,
// Open MPI copies long messages between processes of one machine with process_vm_readv,
// straight from the sender's buffer into the receiver's. 4.1 asks for as many bytes as the
// sender has, even if the receive has room for fewer: it overwrites the memory after the
// buffer, and only then reports that the message was too long. Only the library knows both
// lengths before: the receive may have been posted before the message came, for any sender
// and tag. So this file gives the library another process_vm_readv, which stops at the end
// of the buffer: the program exports the symbol, and the dynamic linker finds it before
// libc's. It looks up the room by address among the operations that receive; other copies
// pass unchanged. The lookup costs time for long messages only. If the library does not get
// this function (the program is linked in another way), Init refuses the setting.
// Collectives are guarded up to the end of the program's buffer.

#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "state.h"

// read_all reads n bytes, or as many as there are: a copy may be done in parts.
static ssize_t read_all(pid_t pid, char *to, char *from, size_t n, unsigned long flags) {
	size_t done = 0;
	while (done < n) {
		struct iovec local = {to + done, n - done}, remote = {from + done, n - done};
		ssize_t got = syscall(SYS_process_vm_readv, pid, &local, 1L, &remote, 1L, flags);
		if (got <= 0)
			return got;
		done += got;
	}
	return done;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal, const struct iovec *remote, unsigned long nremote, unsigned long flags) {
	if (nlocal == 1 && nremote == 1 && local->iov_len == remote->iov_len) {
		size_t room = weft_room(local->iov_base, local->iov_len);
		if (room < local->iov_len) {
			ssize_t rc = read_all(pid, local->iov_base, remote->iov_base, room, flags);
			return rc < 0 ? rc : (ssize_t)local->iov_len; // the rest counts as read: it is dropped
		}
	}
	return syscall(SYS_process_vm_readv, pid, local, nlocal, remote, nremote, flags);
}

// weft_guarded reports whether the libraries of this process call the function above.
int weft_guarded(void) { return dlsym(RTLD_DEFAULT, "process_vm_readv") == (void *)process_vm_readv; }
