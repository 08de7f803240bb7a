/* SPDX-License-Identifier: MIT */
/* A recording that has no samples of the processors opens with the verbs that are made for its events. */
#include "app.h"

#include "../fitting.h"
#include "../handover.h"

#include <stdio.h>

enum { MAX_OFFERED = 4 };

void pf_tui_find_offers(struct pf_tui *app, const struct pf_input *input)
{
    struct pf_fitting fitting = {0};

    _Static_assert(MAX_OFFERED == sizeof(app->offers) / sizeof(app->offers[0]), "");
    if (app->load.live || !pf_handover_possible() || !pf_fitting_only(input->reader))
        return;
    pf_fitting_take(&fitting, input->reader);
    app->offer_count = pf_fitting_commands(&fitting, app->offers, MAX_OFFERED);
}

void pf_tui_offer(struct pf_tui *app)
{
    struct pf_tui_choice choices[MAX_OFFERED + 1];
    char texts[MAX_OFFERED][80];
    const size_t count = app->offer_count;

    if (!count)
        return;
    for (size_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof(texts[i]), "perfile %s", app->offers[i]);
        choices[i] = (struct pf_tui_choice){.text = texts[i], .value = (int64_t)i};
    }
    choices[count] =
        (struct pf_tui_choice){.text = (char[]){"where its events happened, by function"}, .value = (int64_t)count};
    const int chosen = pf_tui_choose(app, "No CPU samples: what to show?", choices, count + 1, false);
    if (chosen < 0 || (size_t)chosen == count)
        return;
    app->other_verb = app->offers[chosen];
    app->quits = true;
}
