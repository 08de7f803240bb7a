/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over files and folders of files, without any fuzzer: a fault that was found once must not come
 * back.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned replayed;

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    if (!file || fstat(fileno(file), &status) < 0) {
        perror(path);
        return 1;
    }
    size_t bytes = (size_t)status.st_size;
    /* exactly as large as the input, so that a sanitizer knows where it ends */
    uint8_t *data = malloc(bytes ? bytes : 1);
    int failed = !data || fread(data, 1, bytes, file) != bytes;
    fclose(file);
    if (!failed)
        LLVMFuzzerTestOneInput(data, bytes);
    free(data);
    replayed++;
    return failed;
}

static int replay(const char *path)
{
    DIR *folder = opendir(path);
    int failed = 0;
    if (!folder)
        return replay_file(path);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char inside[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(inside, sizeof(inside), "%s/%s", path, entry->d_name);
        failed |= replay_file(inside);
    }
    closedir(folder);
    return failed;
}

int main(int count, char **paths)
{
    int failed = 0;
    for (int i = 1; i < count; i++)
        failed |= replay(paths[i]);
    printf("%u inputs\n", replayed);
    return failed || !replayed;
}
