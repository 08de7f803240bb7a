/* SPDX-License-Identifier: MIT */
/* The actions of keys, all from keys.def. */
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { R = PF_TUI_MODE_ROWS, F = PF_TUI_MODE_FLAME, C = PF_TUI_MODE_CODE, T = PF_TUI_MODE_TIME };

static const struct key {
    unsigned modes;
    int key;
    const char *shown; /* NULL: another row has it */
    pf_tui_action *action;
    const char *help;
} keys[] = {
#define PF_KEY(views, code, name, act, text) {views, code, name, pf_tui_do_##act, text},
#include "keys.def"
#undef PF_KEY
};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

/* Whether the action works before there is anything to show. */
static bool needs_nothing(pf_tui_action *action)
{
    return action == pf_tui_do_quit || action == pf_tui_do_help || action == pf_tui_do_notes;
}

void pf_tui_press(struct pf_tui *app, enum pf_tui_mode mode, int key)
{
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].modes & mode && keys[i].key == key) {
            if (app->model.index || needs_nothing(keys[i].action))
                keys[i].action(app);
            else
                pf_tui_say(app, "There is nothing to show yet.");
            return;
        }
    if (key != PF_KEY_OTHER && key != PF_KEY_MOUSE)
        pf_tui_say(app, "That key does nothing here (? shows all keys).");
}

void pf_tui_do_help(struct pf_tui *app)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    if (!to)
        return;
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].shown)
            fprintf(to, "%-16s%s\n", keys[i].shown, keys[i].help);
    fputs("\nColors follow PERFILE_THEME (dark, light, mono); NO_COLOR turns them off.\n", to);
    if (fclose(to) == 0)
        pf_tui_show_text(app, "Keys", text, 16);
    free(text);
}

void pf_tui_do_menu(struct pf_tui *app)
{
    static pf_tui_action *const of_rows[] = {pf_tui_do_enter,      pf_tui_do_annotate,      pf_tui_do_details,
                                             pf_tui_do_toggle,     pf_tui_do_open_all,      pf_tui_do_filter_function,
                                             pf_tui_do_filter_dso, pf_tui_do_filter_thread, pf_tui_do_print};
    struct pf_tui_choice choices[sizeof(of_rows) / sizeof(of_rows[0])];
    char texts[sizeof(of_rows) / sizeof(of_rows[0])][160];
    size_t count = 0;

    for (size_t i = 0; i < sizeof(of_rows) / sizeof(of_rows[0]); i++)
        for (size_t k = 0; k < KEYS; k++)
            if (keys[k].action == of_rows[i] && keys[k].shown) {
                snprintf(texts[count], sizeof(texts[count]), "%-9s%s", keys[k].shown, keys[k].help);
                choices[count] = (struct pf_tui_choice){.text = texts[count], .value = (int64_t)k};
                count++;
                break;
            }
    const int chosen = pf_tui_choose(app, "What to do with this row", choices, count, false);
    if (chosen >= 0)
        keys[choices[chosen].value].action(app);
}
