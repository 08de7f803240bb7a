/* SPDX-License-Identifier: MIT */
#include "base/bytes.h"
#include "model/links.h"

int pf_following_read(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    struct pf_following *following = context;
    if (PF_UNLIKELY(following->round_over) && following->follower) /* sorting reads on only when all is delivered */
        following->follower->round(following->context);
    following->round_over = false;
    const int result = pf_record_next(&following->before_read, record, error);
    if (result <= 0 || !following->follower)
        return result;
    following->follower->read(following->context, *record);
    following->round_over = (*record)->type == PERFILE_RECORD_FINISHED_ROUND;
    return 1;
}

int pf_following_delivered(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    struct pf_following *following = context;
    const int result = pf_record_next(&following->before_delivered, record, error);
    if (following->follower && result > 0)
        following->follower->delivered(following->context, *record);
    else if (following->follower && result == 0)
        following->follower->ended(following->context);
    return result;
}
