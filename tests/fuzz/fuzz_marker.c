/* SPDX-License-Identifier: MIT */
/* The markers of a dataset: as they are, and with the digest that others would have given them. */
#include "made.h"

#include "../../cli/dataset/dataset.h"
#include "../../cli/message.h"

/* Nothing is printed. */
void pf_message(const char *format, ...)
{
    (void)format;
}

static const char id[] = "0123456789abcdef0123456789abcdef";
static const char *const folders[] = {"_perfile/recordings", "_perfile/joined", "_perfile"};
static const char *const files[] = {"_perfile/recordings/0123456789abcdef0123456789abcdef",
                                    "_perfile/joined/samples-0123456789abcdef0123456789abcdef", "_perfile/dataset"};

static void remove_folder(void);

static const char *folder(void)
{
    return fuzz_folder(remove_folder);
}

static void remove_folder(void)
{
    char path[256];
    for (size_t i = 0; i < PF_COUNT(files); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder(), files[i]);
        unlink(path);
    }
    for (size_t i = 0; i < PF_COUNT(folders); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder(), folders[i]);
        rmdir(path);
    }
    rmdir(folder());
}

/* What was read is written, and read again. */
static void check_added(const struct pf_dataset *dataset)
{
    struct pf_added added;
    if (pf_added_read(dataset, id, &added) <= 0)
        return;
    added.folder = added.folder ? added.folder : strdup("");
    added.shared = added.shared ? added.shared : strdup("");
    FUZZ_REQUIRE(added.folder && added.shared && pf_added_write(dataset, &added));
    pf_added_free(&added);
    FUZZ_REQUIRE(pf_added_read(dataset, id, &added) == 1);
    pf_added_free(&added);
}

static void read_all(const struct pf_dataset *dataset)
{
    struct pf_joined joined;
    struct pf_all_added all;
    check_added(dataset);
    if (pf_joined_read(dataset, PF_TABLE_SAMPLES, id, &joined) > 0)
        fuzz_touch(joined.ids, joined.count * PF_DIGEST_TEXT);
    pf_joined_free(&joined);
    FUZZ_REQUIRE(pf_all_added_read(dataset, &all));
    pf_all_added_free(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct pf_dataset dataset = {.path = folder()}, opened;
    char path[256], *text = malloc(bytes + 1);
    FUZZ_REQUIRE(text);
    memcpy(text, data, bytes);
    text[bytes] = 0;
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder(), folders[i]);
        FUZZ_REQUIRE(pf_dataset_make_folders(path));
        fuzz_write_file(folder(), files[i], data, bytes);
    }
    read_all(&dataset);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder(), files[i]);
        FUZZ_REQUIRE(pf_write_checked(path, text));
    }
    read_all(&dataset);
    fuzz_write_file(folder(), files[2], data, bytes);
    (void)pf_dataset_open(&opened, "fuzz", folder(), NULL);
    free(text);
    return 0;
}
