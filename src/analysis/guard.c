/* SPDX-License-Identifier: MIT */
#include "analysis/guard.h"

void pf_guard_open(struct pf_guard *guard)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE); /* symbols that are opened while reading have notes */
    pthread_mutex_init(&guard->calling_back, &kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_DEFAULT);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP); /* mostly held for one address: no time for sleep */
#endif
    pthread_mutex_init(&guard->symbols, &kind);
    pthread_mutexattr_destroy(&kind);
}

void pf_guard_close(struct pf_guard *guard)
{
    pthread_mutex_destroy(&guard->symbols);
    pthread_mutex_destroy(&guard->calling_back);
}

static void note_alone(void *context, const char *text)
{
    struct pf_guard *guard = context;
    pthread_mutex_lock(&guard->calling_back);
    guard->note(guard->note_context, text);
    pthread_mutex_unlock(&guard->calling_back);
}

void pf_guard_notes(struct pf_guard *guard, struct pf_find_options *find)
{
    if (!find->note)
        return;
    guard->note = find->note;
    guard->note_context = find->note_context;
    find->note = note_alone;
    find->note_context = guard;
}

void pf_guard_begin_reading(struct pf_guard *guard)
{
    pthread_mutex_lock(&guard->calling_back);
}

void pf_guard_end_reading(struct pf_guard *guard)
{
    pthread_mutex_unlock(&guard->calling_back);
}

void pf_guard_lock(struct pf_guard *guard)
{
    pthread_mutex_lock(&guard->symbols);
}

void pf_guard_lock_reading(struct pf_guard *guard)
{
    pthread_mutex_unlock(&guard->calling_back);
    pthread_mutex_lock(&guard->symbols);
    pthread_mutex_lock(&guard->calling_back);
}

void pf_guard_unlock(struct pf_guard *guard)
{
    pthread_mutex_unlock(&guard->symbols);
}
