/* SPDX-License-Identifier: MIT */
/* That of the compiler declares the functions of unistd.h in its own way. */
#include <fcntl.h>
#include <unistd.h>
